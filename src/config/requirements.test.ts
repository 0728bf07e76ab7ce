import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadConfig } from './load.js'

let folder: string
let requirementsFile: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reeve-requirements-'))
  requirementsFile = join(folder, 'requirements.toml')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

async function load(text: string) {
  writeFileSync(requirementsFile, text)
  return loadConfig({ home: folder, cwd: folder, env: {}, requirementsFile })
}

describe('managed requirements', () => {
  it('are none without a file, and none in a file about other things', async () => {
    expect((await loadConfig({ home: folder, cwd: folder, env: {}, requirementsFile })).requirements).toBeUndefined()
    expect((await load('allowed_sandbox_modes = ["read-only"]\n')).requirements).toBeUndefined()
  })

  it('list servers by identity, by matcher, and per plugin', async () => {
    const { requirements, problems } = await load(`
[mcp_servers.docs.identity]
command = "docs"
[mcp_servers.web.identity]
url = "https://h/mcp"
[mcp_server_matchers.cli]
command = "cli"
args = [{ match = "exact", value = "mcp" }, { match = "regex", expression = "[a-z]+" }]
[mcp_server_matchers.site]
url = { match = "prefix", value = "https://h/" }
[plugins."p@m".mcp_servers.s.identity]
command = "s"
[plugins.other]
`)
    expect(problems).toEqual([])
    expect(requirements).toEqual({
      source: requirementsFile,
      servers: new Map([
        ['docs', { command: 'docs' }],
        ['web', { url: 'https://h/mcp' }],
      ]),
      matchers: new Map([
        [
          'cli',
          {
            command: 'cli',
            args: [
              { match: 'exact', value: 'mcp' },
              { match: 'regex', expression: '[a-z]+' },
            ],
          },
        ],
        ['site', { url: { match: 'prefix', value: 'https://h/' } }],
      ]),
      plugins: new Map([
        ['p@m', { servers: new Map([['s', { command: 's' }]]) }],
        ['other', {}],
      ]),
    })
  })

  it('keep an empty list, which allows nothing', async () => {
    expect((await load('[mcp_servers]\n')).requirements?.servers?.size).toBe(0)
  })

  it.each([
    ['[mcp_servers.a]\n', 'missing_member', 'servers'],
    ['[mcp_servers.a.identity]\ncommand = "a"\nurl = "b"\n', 'wrong_type', 'servers'],
    ['[mcp_server_matchers.a]\nurl = { match = "regex", expression = "(" }\n', 'invalid_value', 'matchers'],
    ['[mcp_server_matchers.a]\nurl = { match = "glob", value = "x" }\n', 'unknown_value', 'matchers'],
    ['[mcp_server_matchers.a]\nargs = []\n', 'missing_member', 'matchers'],
  ] as const)('allow nothing of a list that is broken: %j', async (text, code, list) => {
    const { requirements, problems } = await load(`[mcp_servers.ok.identity]\ncommand = "ok"\n${text}`)
    expect(problems).toMatchObject([{ severity: 'error', code }])
    expect(problems[0]?.place).toContain(requirementsFile)
    expect(requirements?.[list]?.size).toBe(0)
  })

  it('refuse every plugin when the rules for plugins are broken', async () => {
    const { requirements, problems } = await load('plugins = 3\n')
    expect(problems).toMatchObject([{ severity: 'error', code: 'wrong_type' }])
    expect([...(requirements?.plugins?.values() ?? [])]).toEqual([{ servers: new Map() }])
  })

  it('say what is asked about, by tool, by server, and for all', async () => {
    const { requirements, problems } = await load(`
[approvals]
strict_review = true
default_tools_approval_mode = "writes"
[approvals.mcp_servers.notes]
default_tools_approval_mode = "prompt"
[approvals.mcp_servers.notes.tools.constructor]
approval_mode = "approve"
`)
    expect(problems).toEqual([])
    expect(requirements).toEqual({
      source: requirementsFile,
      approvals: {
        strictReview: true,
        defaultMode: 'writes',
        servers: new Map([['notes', { defaultMode: 'prompt', tools: new Map([['constructor', 'approve']]) }]]),
      },
    })
  })

  it.each([
    '[approvals]\ndefault_tool_approval_mode = "prompt"\n',
    '[approvals]\ndefault_tools_approval_mode = "ask"\n',
    '[approvals.mcp_servers.notes.tools]\npublish = "prompt"\n',
    'approvals = 3\n',
  ])('ask about every call where the rules are broken: %j', async (text) => {
    const { requirements, problems } = await load(text)
    expect(problems).toMatchObject([{ severity: 'error', message: expect.stringContaining('every call is asked for') }])
    expect(problems[0]?.place).toContain(requirementsFile)
    expect(requirements?.approvals).toEqual({ strictReview: false, defaultMode: 'prompt', servers: new Map() })
  })

  it('have hooks, of which a broken one fails whatever it says of failures', async () => {
    const { hooks, requirements, problems } = await load(`
[hooks]
managed_dir = "/opt/hooks"
[[hooks.PreToolUse]]
[[hooks.PreToolUse.hooks]]
type = "command"
command = "guard"
[[hooks.PostToolUse]]
matcher = "("
`)
    expect(requirements).toBeUndefined()
    expect(problems).toMatchObject([{ severity: 'error', code: 'invalid_matcher' }])
    expect(hooks.entries).toEqual([])
    expect(hooks.managed).toMatchObject([
      { event: 'PreToolUse', handler: { type: 'command', command: 'guard' }, origin: { layer: 'managed' } },
      { event: 'PostToolUse', handler: { type: 'broken', onFailure: 'block' } },
    ])
  })

  it('hold beside those of a further file, which must be there', async () => {
    const further = join(folder, 'further.toml')
    const loaded = (file: string) => loadConfig({ home: folder, cwd: folder, env: { REEVE_REQUIREMENTS: file } })
    writeFileSync(further, '[approvals]\ndefault_tools_approval_mode = "prompt"\n')
    expect((await loaded(further)).requirements).toMatchObject({
      source: further,
      approvals: { defaultMode: 'prompt' },
    })
    for (const wrong of [join(folder, 'typo.toml'), 'further.toml']) {
      const { requirements, problems } = await loaded(wrong)
      expect(problems).toMatchObject([{ severity: 'error' }])
      expect(requirements?.servers?.size).toBe(0)
    }
  })

  it.each(['[mcp_servers', '\0'])('that cannot be read allow nothing at all: %j', async (text) => {
    const { requirements, problems } = await load(text)
    expect(requirements?.servers?.size).toBe(0)
    expect(problems).toMatchObject([{ severity: 'error' }])
  })
})

describe('requirements of profiles and policies', () => {
  const managed = async (text: string) => {
    const { permissions, problems } = await load(text)
    return { managed: permissions.managed, problems: problems.map(({ code, place }) => [code, place]) }
  }

  it('have the keys of Codex, and demand nothing where there is none of them', async () => {
    const text =
      'allowed_sandbox_modes = ["read-only", "external-sandbox"]\nallowed_approval_policies = ["untrusted", "on-failure"]\n[allowed_permission_profiles]\n":workspace" = true\n":danger-full-access" = false\n'
    const demanded = {
      source: requirementsFile,
      modes: ['read-only', 'external-sandbox'],
      presets: ['workspace-write'],
      policies: ['untrusted', 'on-failure'],
    }
    expect(await managed(text)).toEqual({ managed: [demanded], problems: [] })
    expect((await managed('default_permissions = "x"\n')).managed).toBeUndefined()
  })

  it('allow nothing where they can’t be read, and no profile whose rules its user writes', async () => {
    const text =
      'allowed_sandbox_modes = ["read-onyl"]\nallowed_approval_policies = "never"\n[allowed_permission_profiles]\nteam = true\n'
    const found = await managed(text)
    expect(found.managed).toEqual([{ source: requirementsFile, modes: [], presets: [], policies: [] }])
    expect(found.problems.map(([code]) => code)).toEqual(['unknown_value', 'unsupported_member', 'wrong_type'])
    expect(found.problems[0]?.[1]).toContain('allowed_sandbox_modes')
    expect((await managed('= broken')).managed).toMatchObject([{ modes: [], policies: [] }])
  })
})
