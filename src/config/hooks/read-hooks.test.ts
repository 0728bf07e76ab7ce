import { describe, expect, it } from 'vitest'
import { mergeLayers } from '../merge.js'
import { readSettings } from '../read-settings.js'
import type { ConfigOrigin } from '../server.js'
import { parseToml } from '../source/toml.js'

function read(text: string, layer: ConfigOrigin['layer'] = 'user') {
  return readSettings(parseToml('/home/config.toml', text), { layer, strict: false, sharedFile: false })
}

const GUARD = `
[[hooks.PreToolUse]]
matcher = "mcp__.*"
environment = "devbox"
[[hooks.PreToolUse.hooks]]
type = "command"
command = "guard"
timeout = 2.5
on_failure = "block"
[[hooks.PreToolUse.hooks]]
type = "mcp_tool"
server = "p"
tool = "echo"
input = { text = "x", at = { level = 3 } }
`

describe('[hooks]', () => {
  it('reads every handler of a group with the filter of the group, its key and its place', () => {
    const { hooks, problems } = read(GUARD)
    expect(problems).toEqual([])
    expect(hooks.entries).toEqual([
      {
        event: 'PreToolUse',
        matcher: 'mcp__.*',
        environment: 'devbox',
        handler: { type: 'command', command: 'guard', timeoutMs: 2500, onFailure: 'block' },
        key: '/home/config.toml:pre_tool_use:0:0',
        origin: { file: '/home/config.toml', layer: 'user', line: 5 },
      },
      {
        event: 'PreToolUse',
        matcher: 'mcp__.*',
        environment: 'devbox',
        handler: {
          type: 'mcp_tool',
          server: 'p',
          tool: 'echo',
          input: { text: 'x', at: { level: 3 } },
          timeoutMs: 600_000,
          onFailure: 'allow',
        },
        key: '/home/config.toml:pre_tool_use:0:1',
        origin: { file: '/home/config.toml', layer: 'user', line: 10 },
      },
    ])
  })

  it.each([
    ['[[hooks.PreToolUse]]\nmatcher = "("', 'invalid_matcher'],
    ['[[hooks.PreToolUse]]\nhooks = [{ type = "command" }]', 'missing_member'],
    ['[[hooks.PreToolUse]]\nhooks = [{ type = "command", command = " " }]', 'invalid_value'],
    ['[[hooks.PreToolUse]]\nhooks = [{ type = "mcp_tool", server = "", tool = "t" }]', 'invalid_value'],
    ['[[hooks.PreToolUse]]\nhooks = [{ type = "mcp_tool", server = "s" }]', 'missing_member'],
    ['[[hooks.PreToolUse]]\nhooks = [{ type = "prompt" }]', 'unknown_value'],
    ['[[hooks.PreToolUse]]\nhooks = [{ type = "command", command = "x", timeout = 0 }]', 'invalid_value'],
    ['[[hooks.PreToolUse]]\nhooks = [{ type = "command", command = "x", async = true }]', 'unsupported'],
    ['[hooks]\nPreToolUse = 5', 'wrong_type'],
    ['hooks = "all"', 'wrong_type'],
  ])('names the fault of %s, and keeps the hooks beside it', (text, code) => {
    const { hooks, problems } = read(`${text}\n`)
    expect(problems).toMatchObject([{ severity: 'error', code }])
    expect(problems[0]?.place).toMatch(/^\/home\/config\.toml:\d+:\d+/)
    expect(hooks.entries).toEqual([])
    const beside = read(`${text.startsWith('[[') ? text : ''}\n${GUARD.replaceAll('PreToolUse', 'PostToolUse')}`)
    expect(beside.hooks.entries).toHaveLength(2)
  })

  it.each([
    [
      '[[hooks.PreToolUse]]\nmatcher = "("\nserver = "s"\nhooks = [{ type = "command", command = "x", on_failure = "block" }]',
      { server: 's' },
    ],
    ['[[hooks.PreToolUse]]\nmatcher = "a|b"\nhooks = [{ type = "command", on_failure = "block" }]', { matcher: 'a|b' }],
    ['[[hooks.PreToolUse]]\nhooks = [{ type = "command", command = "x", on_failure = "deny" }]', {}],
    ['[hooks.PreToolUse.hooks]\ntype = "command"\ncommand = "x"\non_failure = "block"', {}],
    [
      '[[hooks.PreToolUse]]\nserver = 3\nmatcher = "a"\nhooks = [{ type = "command", command = "x", on_failure = "block" }]',
      { matcher: 'a' },
    ],
    ['[[hooks.PreToolUse]]\n[hooks.PreToolUse.hooks]\ntype = "command"\ncommand = "x"\non_failure = "block"', {}],
  ])('puts something that fails in the place of %s, which calls may not go without', (text, filter) => {
    const { hooks, problems } = read(`${text}\n`)
    expect(problems).toMatchObject([{ severity: 'error' }])
    expect(hooks.entries).toEqual([
      {
        event: 'PreToolUse',
        ...filter,
        handler: {
          type: 'broken',
          reason: expect.stringContaining('/home/config.toml'),
          timeoutMs: 1000,
          onFailure: 'block',
        },
        key: expect.stringMatching(/^\/home\/config\.toml:pre_tool_use/),
        origin: expect.objectContaining({ layer: 'user' }),
      },
    ])
  })

  it('notes an event that nothing is run at, and a name that is close to one', () => {
    const { problems } = read('[[hooks.SessionStart]]\n[[hooks.PreToolUsed]]\n')
    expect(problems).toMatchObject([
      { severity: 'warning', code: 'unsupported_hook_event' },
      { severity: 'warning', code: 'unknown_member', message: expect.stringContaining('did you mean `PreToolUse`') },
    ])
  })

  it('does not let a project say that its own hooks are trusted', () => {
    const state = '[hooks.state."k"]\ntrusted_hash = "sha256:0"\n'
    const layer = (name: 'user' | 'project') => ({ file: name, layer: name, settings: read(state, name) })
    expect(mergeLayers([layer('project')]).hooks.states.size).toBe(0)
    expect(mergeLayers([layer('user')]).hooks.states.get('k')).toEqual({ trustedHash: 'sha256:0' })
  })

  it('takes names of prototypes as names', () => {
    const text =
      '[[hooks.PreToolUse]]\nhooks = [{ type = "mcp_tool", server = "s", tool = "t", input = { constructor = 1, __proto__ = 2 } }]\n'
    const [hook] = read(text).hooks.entries
    expect(hook?.handler.type === 'mcp_tool' && Object.keys(hook.handler.input)).toEqual(['constructor', '__proto__'])
  })
})

describe('[audit]', () => {
  it('reads what is kept and for how long', () => {
    const { audit, problems } = read('[audit]\nmode = "strict"\nkeep_days = 7\nmax_mb = 16\narguments = "whole"\n')
    expect(problems).toEqual([])
    expect(audit).toEqual({ mode: 'strict', keepDays: 7, maxMb: 16, arguments: 'whole' })
  })

  it.each(['mode = "sometimes"', 'keep_days = 0', 'max_mb = 1.5', 'arguments = true'])('refuses %s', (line) => {
    const { audit, problems } = read(`[audit]\n${line}\n`)
    expect(problems).toMatchObject([{ severity: 'error' }])
    expect(audit).toEqual({})
  })

  it('is not for a project to say', () => {
    const off = { file: 'p', layer: 'project' as const, settings: read('[audit]\nmode = "off"\n', 'project') }
    expect(mergeLayers([off]).audit).toEqual({})
    expect(off.settings.problems).toMatchObject([
      { severity: 'warning', code: 'ignored_in_project', place: expect.stringContaining('audit') },
    ])
  })
})
