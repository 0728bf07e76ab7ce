import { describe, expect, it } from 'vitest'
import { serverKey } from '../identity/index.js'
import { selectServer } from './select.js'

const keys = [
  { key: serverKey('notes', 'a'), runsIn: 'a' },
  { key: serverKey('notes', 'b'), runsIn: 'b' },
  { key: serverKey('web', 'a'), runsIn: 'a' },
  { key: serverKey('files'), runsIn: 'local' },
  { key: serverKey('files', 'a'), runsIn: 'a' },
]

describe('selecting a server', () => {
  it('takes the exact key when an environment is named, null included', () => {
    expect(selectServer(keys, { server: 'notes', environment: 'b' })).toEqual(serverKey('notes', 'b'))
    expect(selectServer(keys, { server: 'files', environment: null })).toEqual(serverKey('files'))
    expect(() => selectServer(keys, { server: 'notes', environment: null })).toThrow("unknown MCP server 'notes'")
    expect(() => selectServer(keys, { server: 'notes', environment: '' })).toThrow(
      "unknown MCP server 'notes (environment )'",
    )
    expect(() => selectServer(keys, { server: 'files', environment: 'b' })).toThrow('(environment b)')
  })

  it('has where else there is one of that name in its data, its text being the reference’s', () => {
    const choicesFor = (server: string) => {
      try {
        return selectServer(keys, { server, environment: 'c' })
      } catch (error) {
        return error
      }
    }
    expect(choicesFor('files')).toMatchObject({
      message: "unknown MCP server 'files (environment c)'",
      data: { choices: [null, 'a'] },
    })
    expect(choicesFor('nope')).toMatchObject({ message: "unknown MCP server 'nope (environment c)'", data: {} })
  })

  it('takes the thread-wide server that runs in the environment named, unless one belongs to it', () => {
    expect(selectServer(keys, { server: 'files', environment: 'local' })).toEqual(serverKey('files'))
    expect(selectServer(keys, { server: 'files', environment: 'a' })).toEqual(serverKey('files', 'a'))
    const placed = [{ key: serverKey('web'), runsIn: 'b' }]
    expect(selectServer(placed, { server: 'web', environment: 'b' })).toEqual(serverKey('web'))
    expect(() => selectServer(placed, { server: 'web', environment: 'local' })).toThrow('(environment local)')
  })

  it('takes the thread-wide server, else the only owner, when only a name is given', () => {
    expect(selectServer(keys, { server: 'files' })).toEqual(serverKey('files'))
    expect(selectServer(keys, { server: 'web' })).toEqual(serverKey('web', 'a'))
  })

  it('refuses a name with several owners and lists them, whatever the order', () => {
    for (const order of [keys, [...keys].reverse()]) {
      expect(() => selectServer(order, { server: 'notes' })).toThrowError(
        expect.objectContaining({ code: 'ambiguous_server', data: { choices: expect.arrayContaining(['a', 'b']) } }),
      )
    }
  })

  it('does not take names of the language for servers', () => {
    for (const server of ['__proto__', 'constructor', 'toString', '']) {
      expect(() => selectServer(keys, { server })).toThrowError(expect.objectContaining({ code: 'unknown_server' }))
    }
  })
})
