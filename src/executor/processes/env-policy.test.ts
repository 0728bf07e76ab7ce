import { describe, expect, it } from 'vitest'
import { Params } from '../wire/params.js'
import { childEnvironment } from './env-policy.js'

const OWN = { PATH: '/bin', HOME: '/h', APP: '1', API_KEY: 'k', my_token: 't', LANG: 'C' }
const policy = (changes: object) => ({
  inherit: 'all',
  ignoreDefaultExcludes: true,
  exclude: [],
  set: {},
  includeOnly: [],
  ...changes,
})
const made = (envPolicy: object | undefined, env: object = {}) => ({
  ...childEnvironment(new Params({ env, envPolicy }), OWN),
})

describe('childEnvironment', () => {
  it('gives env alone without a policy', () => {
    expect(made(undefined, { A: '1' })).toEqual({ A: '1' })
  })
  it('inherits everything, the core or nothing', () => {
    expect(made(policy({}))).toEqual(OWN)
    expect(made(policy({ inherit: 'core' }))).toEqual({ PATH: '/bin', HOME: '/h', LANG: 'C' })
    expect(made(policy({ inherit: 'none' }))).toEqual({})
  })
  it('drops what looks like a secret, whatever its case', () => {
    expect(made(policy({ ignoreDefaultExcludes: false }))).toEqual({ PATH: '/bin', HOME: '/h', APP: '1', LANG: 'C' })
  })
  it('excludes before it sets, and includes after', () => {
    expect(made(policy({ exclude: ['a?p', '*A*'], set: { APP: '2', X: '3' }, includeOnly: ['ap*', 'home'] }))).toEqual({
      APP: '2',
      HOME: '/h',
    })
  })
  it('lays env over all of it', () => {
    expect(made(policy({ set: { APP: '2' }, includeOnly: ['APP'] }), { APP: '4', Z: '5' })).toEqual({
      APP: '4',
      Z: '5',
    })
  })
  it('keeps a variable called __proto__', () => {
    const env = JSON.parse('{"__proto__":"x"}')
    expect(Object.entries(childEnvironment(new Params({ env }), OWN))).toEqual([['__proto__', 'x']])
  })
  it.each([{ '': 'x' }, { 'A=B': 'x' }, { A: 'x\0' }])('refuses what no process can be given: %j', (env) => {
    expect(() => made(undefined, env)).toThrow('no process can be given')
  })
})
