import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SandboxCommandError } from '../../errors.js'
import { repeatedMember } from './repeated-member.js'
import { parseSandboxState } from './state.js'

const PROFILE = { type: 'disabled' }
const state = (members: object) => JSON.stringify({ permissionProfile: PROFILE, sandboxCwd: 'file:///w', ...members })

describe('parseSandboxState', () => {
  it('reads the helper of the sender, and ignores what it does not know', () => {
    expect(parseSandboxState(state({ codexLinuxSandboxExe: '/opt/x', useMxc: true, later: [1] }), 'linux')).toEqual({
      profile: PROFILE,
      cwd: '/w',
      helper: '/opt/x',
    })
    expect(parseSandboxState(state({ codexLinuxSandboxExe: null }), 'linux')).not.toHaveProperty('helper')
  })

  it.each([
    ['file:///a%20b/%C3%A9', '/a b/é'],
    ['file:///a/../b', '/b'],
    ['file://localhost/a', '/a'],
    ['FILE:///a', '/a'],
  ])('takes %s', (sandboxCwd, cwd) => {
    expect(parseSandboxState(state({ sandboxCwd }), 'linux').cwd).toBe(cwd)
  })

  it.each(['file://host/a', 'file:///C:/a', 'file:///a%2Fb', 'file:///a%00b', 'file:///a%FF'])(
    'takes %s for no folder of this system',
    (sandboxCwd) => {
      expect(() => parseSandboxState(state({ sandboxCwd }), 'linux')).toThrow(/not native to this host/)
    },
  )

  it.each([
    [`{"permissionProfile":{"type":"managed"},"permissionProfile":{"type":"disabled"},"sandboxCwd":"file:///w"}`],
    [`{"permissionProfile":{"type":"external","type":"disabled","network":"enabled"},"sandboxCwd":"file:///w"}`],
    [`{"permissionProfile":{"type":"disabled"},"sandboxCwd":"file:///w","sandbox\\u0043wd":"file:///"}`],
  ])('refuses a text that says something twice: %s', (json) => {
    expect(() => parseSandboxState(json, 'linux')).toThrow(/duplicate field/)
  })

  it('gives a state or a named refusal for any text', () => {
    const any = fc.oneof(
      fc.string(),
      fc.json(),
      fc.jsonValue().map((permissionProfile) => state({ permissionProfile })),
      fc.jsonValue().map((sandboxCwd) => state({ sandboxCwd })),
    )
    fc.assert(
      fc.property(any, (json) => {
        try {
          parseSandboxState(json, 'linux')
        } catch (error) {
          expect(error).toBeInstanceOf(SandboxCommandError)
        }
      }),
    )
  })
})

describe('repeatedMember', () => {
  it('is not misled by what strings hold', () => {
    expect(repeatedMember(JSON.stringify({ a: '","a":', b: '{"b":1}', c: ['a', { a: 1 }, { a: 1 }] }))).toBeUndefined()
    expect(repeatedMember('{"a":"\\"","b":[{"x":1},{"x" : 2, "x":3}]}')).toBe('x')
  })

  it('finds none in what was written from a value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(repeatedMember(JSON.stringify(value))).toBeUndefined()
      }),
    )
  })
})
