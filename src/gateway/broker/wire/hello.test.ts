import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../protocol/index.js'
import { readHello, readNeed, readVariables } from './hello.js'

const SESSION = { mode: 'mcp', cwd: '/a', configFiles: ['/b'], environments: ['devbox'], resumed: 0, pid: 7 }

describe('a hello', () => {
  it('says what a client wants, with members of other versions left out', () => {
    expect(readHello({ ...SESSION, later: 1 })).toEqual({ ...SESSION, transparent: false })
    expect(readHello({ ...SESSION, transparent: true, only: 'notes' })).toMatchObject({
      transparent: true,
      only: 'notes',
    })
    expect(readHello({ mode: 'control', action: 'stop', later: 1 })).toEqual({ mode: 'control', action: 'stop' })
  })

  it.each<[string, JsonObject]>([
    ['mode', { ...SESSION, mode: 'other' }],
    ['mode', {}],
    ['action', { mode: 'control', action: 'format' }],
    ['cwd', { ...SESSION, cwd: null }],
    ['configFiles', { ...SESSION, configFiles: '/b' }],
    ['configFiles', { ...SESSION, configFiles: [1] }],
    ['configFiles', { ...SESSION, configFiles: Array(65).fill('/b') }],
    ['environments', { ...SESSION, environments: null }],
    ['environments', { ...SESSION, environments: Array(257).fill('e') }],
    ['only', { ...SESSION, only: 3 }],
    ['resumed', { ...SESSION, resumed: -1 }],
    ['pid', { ...SESSION, pid: 1.5 }],
  ])('is refused for its %s', (member, line) => {
    expect(() => readHello(line)).toThrowError(expect.objectContaining({ code: 'broker_refused', place: member }))
  })
})

describe('variables', () => {
  it('are asked for by name, and given as text or as not set', () => {
    expect(readNeed({ need: ['A', '__proto__'] })).toEqual(['A', '__proto__'])
    expect(readNeed({ welcome: {} })).toBeUndefined()
    const env = JSON.parse('{"A":"1","B":null,"__proto__":"2"}')
    expect([...readVariables({ env })]).toEqual([
      ['A', '1'],
      ['__proto__', '2'],
    ])
  })

  it('are refused when they are anything else', () => {
    expect(() => readNeed({ need: [7] })).toThrowError(/'need'/)
    expect(() => readVariables({})).toThrowError(/'env'/)
    expect(() => readVariables({ env: { A: 1 } })).toThrowError(/env "A"/)
  })
})
