import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { type CallerSandbox, isSameAuthority, launch, operatorOptOut, requireSameAuthority } from './index.js'

const STATE = '{"permissionProfile":{"type":"disabled"},"sandboxCwd":"file:///workspace/a"}'
const SANDBOX: CallerSandbox = {
  state: STATE,
  codexExecutable: '/opt/codex/codex',
  reeveExecutable: '/opt/reeve/reeve',
}
const NONE: CallerSandbox = { state: null, codexExecutable: null, reeveExecutable: null }
const OPT_OUT = operatorOptOut('SHELL_SANDBOX', { SHELL_SANDBOX: 'off' })

describe('the command line', () => {
  it('has the state as one argument, and the command after the dashes', () => {
    expect(launch(SANDBOX, ['ls', '--', '-l'])).toEqual({
      file: '/opt/codex/codex',
      args: ['sandbox', '--sandbox-state-json', STATE, '--', 'ls', '--', '-l'],
      sandbox: 'codex',
    })
  })

  it('takes Reeve where the client has no Codex', () => {
    const { file, sandbox } = launch({ ...SANDBOX, codexExecutable: null }, ['ls'])
    expect({ file, sandbox }).toEqual({ file: '/opt/reeve/reeve', sandbox: 'reeve' })
  })

  it('tightens what the policy allows', () => {
    const { args } = launch(SANDBOX, ['ls'], { readableRoots: ['/a', '/b c'], disableNetwork: true })
    expect(args.slice(3)).toEqual([
      '--sandbox-state-readable-root',
      '/a',
      '--sandbox-state-readable-root',
      '/b c',
      '--sandbox-state-disable-network',
      '--',
      'ls',
    ])
  })

  it('reaches the launcher as it is', () => {
    const odd = { state: '{"a":"$HOME `id` \\" \\\\ \\n","b" : [1.0 ,\n2e3]}', codexExecutable: process.execPath }
    const { file, args } = launch({ ...SANDBOX, ...odd }, ['true'])
    const printed = execFileSync(file, ['-e', 'console.log(JSON.stringify(process.argv.slice(1)))', '--', ...args])
    expect(JSON.parse(printed.toString())).toEqual(args)
    expect(args[2]).toBe(odd.state)
  })

  it.each([
    ['no command', []],
    ['an empty program', ['']],
    ['a NUL', ['echo', 'a\0b']],
  ])('is refused for %s', (_, command) => {
    expect(() => launch(SANDBOX, command)).toThrow(expect.objectContaining({ code: 'invalid_command' }))
  })

  it.each(['relative', '', '/a\0b'])('is refused with the readable root %j', (root) => {
    expect(() => launch(SANDBOX, ['ls'], { readableRoots: [root] })).toThrow(
      expect.objectContaining({ code: 'invalid_command' }),
    )
  })

  it.runIf(process.platform === 'linux')('is refused with a state that no argument can hold', () => {
    const sized = (bytes: number) => `{"a":"${'x'.repeat(bytes - '{"a":""}'.length)}"}`
    const echo = (state: string) =>
      execFileSync('/bin/echo', launch({ ...SANDBOX, state }, ['true']).args as string[], { maxBuffer: 1e6 }).length
    expect(echo(sized(131_071))).toBeGreaterThan(131_071)
    for (const bytes of [131_072, 5_000_000])
      expect(() => echo(sized(bytes))).toThrow(expect.objectContaining({ code: 'state_too_large' }))
  })
})

describe('without a sandbox', () => {
  const withoutLauncher: CallerSandbox = { ...SANDBOX, codexExecutable: null, reeveExecutable: null }

  it('nothing runs', () => {
    expect(() => launch(NONE, ['ls'])).toThrow(expect.objectContaining({ code: 'no_state' }))
    expect(() => launch(withoutLauncher, ['ls'])).toThrow(expect.objectContaining({ code: 'no_launcher' }))
    expect(() => launch({ ...SANDBOX, state: null }, ['ls'])).toThrow(expect.objectContaining({ code: 'no_state' }))
  })

  it.each([NONE, withoutLauncher])('it runs when the operator says so by name', (sandbox) => {
    expect(launch(sandbox, ['ls', '-l'], { optOut: OPT_OUT })).toEqual({ file: 'ls', args: ['-l'], sandbox: 'off' })
  })

  it('the operator takes nothing away where there is one', () => {
    expect(launch(SANDBOX, ['ls'], { optOut: OPT_OUT }).sandbox).toBe('codex')
  })

  it.each(['', '0', 'OFF', 'false', 'on', ' off'])('the word %j is none', (word) => {
    expect(operatorOptOut('SHELL_SANDBOX', { SHELL_SANDBOX: word })).toBeUndefined()
  })

  it('the word for another server is none', () => {
    expect(operatorOptOut('SHELL_SANDBOX', { OTHER_SANDBOX: 'off' })).toBeUndefined()
    expect(operatorOptOut('toString', {})).toBeUndefined()
  })

  it('what a request says is no word of the operator', () => {
    const forged = JSON.parse('{"optOut":{"name":"SHELL_SANDBOX"}}')
    expect(() => launch(NONE, ['ls'], forged)).toThrow(expect.objectContaining({ code: 'no_state' }))
  })
})

describe('authority', () => {
  const with_ = (state: string): CallerSandbox => ({ ...SANDBOX, state })

  it('is the same in any order of members', () => {
    const other = '{ "sandboxCwd":"file:///workspace/a", "permissionProfile":{"type":"disabled"}}'
    expect(isSameAuthority(SANDBOX, with_(other))).toBe(true)
    expect(() => requireSameAuthority(SANDBOX, with_(other))).not.toThrow()
    expect(isSameAuthority(NONE, { ...NONE })).toBe(true)
  })

  it.each([
    ['a folder', with_(STATE.replace('workspace/a', 'workspace/b')), ['state']],
    ['a member that nobody knows', with_(STATE.replace('{', '{"later":1,')), ['state']],
    ['a launcher', { ...SANDBOX, codexExecutable: '/tmp/codex' }, ['codexExecutable']],
    ['all', NONE, ['state', 'codexExecutable', 'reeveExecutable']],
  ])('changed by %s is refused', (_, now, changed) => {
    expect(isSameAuthority(SANDBOX, now)).toBe(false)
    expect(() => requireSameAuthority(SANDBOX, now)).toThrow(
      expect.objectContaining({ code: 'authority_changed', data: { changed } }),
    )
    expect(isSameAuthority(now, SANDBOX)).toBe(false)
  })

  it('is not the same when only parsing makes it so', () => {
    const held = with_('{"depth":9007199254740992}')
    expect(isSameAuthority(held, with_('{"depth":9007199254740993}'))).toBe(false)
    expect(isSameAuthority(held, held)).toBe(true)
  })

  it.each([
    ['[1,2]', '[2,1]'],
    ['{"0":1}', '[1]'],
    ['{"__proto__":{}}', '{"a":{}}'],
    ['null', '{}'],
  ])('%s is not %s', (a, b) => {
    expect(isSameAuthority(with_(`{"a":${a}}`), with_(`{"a":${b}}`))).toBe(false)
  })
})
