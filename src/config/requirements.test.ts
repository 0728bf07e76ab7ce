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

  it.each(['[mcp_servers', '\0'])('that cannot be read allow nothing at all: %j', async (text) => {
    const { requirements, problems } = await load(text)
    expect(requirements?.servers?.size).toBe(0)
    expect(problems).toMatchObject([{ severity: 'error' }])
  })
})
