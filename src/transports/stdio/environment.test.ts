import { describe, expect, it } from 'vitest'
import { UNIX_ALLOWLIST } from '../../environments/index.js'
import { ConfigError } from '../../errors.js'
import { childEnvironment, executorVariables } from './environment.js'

const parent = {
  HOME: '/home/u',
  PATH: '/usr/bin',
  LANG: 'C.UTF-8',
  FAKE_API_KEY: 'secret',
  NODE_OPTIONS: '--inspect',
  LD_PRELOAD: '/evil.so',
  TOKEN_A: 'a',
  UNSET: undefined,
}
const plain = (record: Record<string, string>) => ({ ...record })

describe('childEnvironment on POSIX', () => {
  it('passes the eleven names that are set, and nothing else', () => {
    expect(plain(childEnvironment('linux', parent, [], {}))).toEqual({
      HOME: '/home/u',
      PATH: '/usr/bin',
      LANG: 'C.UTF-8',
    })
    expect(UNIX_ALLOWLIST).toHaveLength(11)
    const all = Object.fromEntries(UNIX_ALLOWLIST.map((name) => [name, `value of ${name}`]))
    expect(plain(childEnvironment('darwin', { ...all, OTHER: 'x' }, [], {}))).toEqual(all)
  })

  it('adds the names of env_vars that are set, in both spellings of an entry', () => {
    const envVars = ['TOKEN_A', 'MISSING', 'UNSET', { name: 'FAKE_API_KEY', source: 'local' as const }]
    const child = childEnvironment('linux', parent, envVars, {})
    expect(child).toMatchObject({ TOKEN_A: 'a', FAKE_API_KEY: 'secret' })
    expect(Object.keys(child)).not.toContain('MISSING')
    expect(Object.keys(child)).not.toContain('UNSET')
  })

  it('lets the literal env win over both', () => {
    const child = childEnvironment('linux', parent, ['TOKEN_A'], { TOKEN_A: 'mine', HOME: '/elsewhere', EMPTY: '' })
    expect(child).toMatchObject({ TOKEN_A: 'mine', HOME: '/elsewhere', EMPTY: '' })
  })

  it('refuses a remote source, naming the variable', () => {
    const build = () => childEnvironment('linux', parent, [{ name: 'CI_TOKEN', source: 'remote' }], {})
    expect(build).toThrow(ConfigError)
    expect(build).toThrow(/'CI_TOKEN'.*remote environment/)
  })

  it('distinguishes names by case and survives names of the prototype', () => {
    const env = JSON.parse('{"path":"lower","__proto__":"p","constructor":"c"}')
    const child = childEnvironment('linux', parent, ['hasOwnProperty'], env)
    expect(Object.entries(child)).toEqual(
      expect.arrayContaining([
        ['PATH', '/usr/bin'],
        ['path', 'lower'],
        ['__proto__', 'p'],
        ['constructor', 'c'],
      ]),
    )
    expect(Object.keys(child)).not.toContain('hasOwnProperty')
  })

  it.each([
    ['an empty name', [], { '': 'x' }],
    ['a name with =', ['A=B'], {}],
    ['a name with NUL', [], { 'A\0': 'x' }],
    ['a value with NUL', [], { A: 'x\0y' }],
  ])('refuses %s', (_, envVars, env) => {
    expect(() => childEnvironment('linux', parent, envVars, env as Record<string, string>)).toThrow(ConfigError)
  })
})

describe('childEnvironment on Windows', () => {
  const windows = {
    Path: 'C:\\Windows',
    PATHEXT: '.EXE;.CMD',
    ComSpec: 'C:\\Windows\\system32\\cmd.exe',
    SystemRoot: 'C:\\Windows',
    APPDATA: 'C:\\Users\\u\\AppData\\Roaming',
    LOCALAPPDATA: 'C:\\Users\\u\\AppData\\Local',
    'ProgramFiles(x86)': 'C:\\Program Files (x86)',
    FAKE_API_KEY: 'secret',
    HOME: 'C:\\cygwin',
  }

  it('passes what npx and cmd.exe need, under the spelling of the parent, and no secret', () => {
    const child = childEnvironment('win32', windows, [], {})
    expect(Object.keys(child).sort()).toEqual(
      ['APPDATA', 'ComSpec', 'LOCALAPPDATA', 'PATHEXT', 'Path', 'ProgramFiles(x86)', 'SystemRoot'].sort(),
    )
  })

  it('compares names without case and never yields one name twice', () => {
    const child = childEnvironment('win32', windows, ['fake_api_key'], { PATH: 'D:\\bin' })
    expect(child.PATH).toBe('D:\\bin')
    expect(Object.keys(child)).not.toContain('Path')
    expect(child.FAKE_API_KEY).toBe('secret')
  })
})

describe('executorVariables', () => {
  const host = { HOME: '/home/me', PATH: '/usr/bin', TOKEN: 'secret', EMPTY: '' }

  it('sends what the configuration names and nothing of the host beside it', () => {
    const { env, there } = executorVariables(
      'linux',
      host,
      ['TOKEN', { name: 'EMPTY', source: 'local' }, 'NOT_SET', { name: 'THERE', source: 'remote' }],
      { LEVEL: 'debug', TOKEN: 'literal' },
    )
    expect({ ...env }).toEqual({ TOKEN: 'literal', EMPTY: '', LEVEL: 'debug' })
    expect(there).toEqual(['THERE'])
  })

  it('never reads here what is to be read there', () => {
    const { env } = executorVariables('linux', host, [{ name: 'TOKEN', source: 'remote' }], {})
    expect({ ...env }).toEqual({})
  })

  it('finds a variable of a Windows host whatever its case, and sends it under the name asked for', () => {
    const { env } = executorVariables('win32', { Path: 'C:\\bin' }, ['PATH'], {})
    expect({ ...env }).toEqual({ PATH: 'C:\\bin' })
  })

  it.each(['', 'A=B', 'A\0'])('refuses the name %j', (name) => {
    expect(() => executorVariables('linux', {}, [{ name, source: 'remote' }], {})).toThrow(
      expect.objectContaining({ code: 'invalid_env_var' }),
    )
  })
})
