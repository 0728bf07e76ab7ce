import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadConfig } from '../load.js'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'reeve-foreign-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

async function load(text: string, options: { name?: string; env?: Record<string, string>; strict?: boolean } = {}) {
  const file = join(root, options.name ?? 'mcp.json')
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  const requirementsFile = join(root, 'none.toml')
  const { env = {}, strict = false } = options
  const loaded = await loadConfig({ home: root, env, strict, files: [file], requirementsFile })
  const servers = new Map(loaded.servers.map((server) => [server.name, server]))
  return { ...loaded, file, config: (name: string) => servers.get(name)?.config }
}

describe('a file with mcpServers', () => {
  it('of Claude Code is read whole, with comments and trailing commas', async () => {
    const { config, problems, servers } = await load(
      `{
  // mine
  "mcpServers": {
    "a": {"type": "stdio", "command": "c", "args": ["\${X}", "\${Y:-y}"], "env": {"K": "\${X}"}},
    "b": {"type": "http", "url": "https://\${X}/", "headers": {"A": "B"}, "headersHelper": "h", "timeout": 1500,
          "oauth": {"clientId": "i", "callbackPort": 5, "scopes": "r w"}, "alwaysLoad": true},
    "c": {"type": "sse", "url": "https://h/"},
  },
}`,
      { env: { X: 'x' } },
    )
    expect(problems).toEqual([])
    expect(config('a')?.transport).toMatchObject({ command: 'c', args: ['x', 'y'], env: { K: 'x' } })
    expect(config('b')).toMatchObject({
      toolTimeoutMs: 1500,
      scopes: ['r', 'w'],
      transport: {
        type: 'streamable_http',
        url: 'https://x/',
        httpHeaders: { A: 'B' },
        httpHeadersHelper: 'h',
        oauth: { clientId: 'i', callbackPort: 5 },
      },
    })
    expect(config('c')?.transport.type).toBe('sse')
    expect(servers.map(({ origin }) => origin.line)).toEqual([4, 5, 7])
    expect(servers[0]?.written?.transport).toMatchObject({ args: [`\${X}`, `\${Y:-y}`] })
  })

  it('of Gemini CLI is read whole', async () => {
    const { config, problems } = await load(
      `{"mcpServers": {
        "a": {"httpUrl": "http://h/", "trust": true, "includeTools": ["x"], "excludeTools": ["y"], "timeout": 600000},
        "b": {"command": "$CMD", "cwd": "$\{DIR}"},
        "off": {"command": "c"}
      }, "mcp": {"excluded": ["off"]}}`,
      { name: '.gemini/settings.json', env: { CMD: 'c', DIR: '/d' } },
    )
    expect(problems).toEqual([])
    expect(config('a')).toMatchObject({
      transport: { url: 'http://h/' },
      defaultToolsApprovalMode: 'approve',
      enabledTools: ['x'],
      disabledTools: ['y'],
      toolTimeoutMs: 600_000,
    })
    expect(config('b')?.transport).toMatchObject({ command: 'c', cwd: '/d' })
    expect(config('off')?.enabled).toBe(false)
  })

  it('of Cursor and Windsurf is read whole', async () => {
    const { config, problems } = await load(
      `{"mcpServers": {
        "a": {"command": "\${workspaceFolder}/run", "args": ["\${env:X}", "\${userHome}"], "disabled": true},
        "b": {"serverUrl": "http://h/", "disabledTools": ["t"]}
      }}`,
      { name: 'app/.cursor/mcp.json', env: { X: 'x', HOME: '/home/me', USERPROFILE: '/home/me' } },
    )
    expect(problems).toEqual([])
    expect(config('a')).toMatchObject({
      enabled: false,
      transport: { command: `${join(root, 'app')}/run`, args: ['x', '/home/me'] },
    })
    expect(config('b')).toMatchObject({ transport: { url: 'http://h/' }, disabledTools: ['t'] })
  })

  it('may say what only we know', async () => {
    const { config } = await load(
      '{"mcpServers": {"a": {"command": "c", "environment_id": "e", "cwd": "/", "required": true}}}',
    )
    expect(config('a')).toMatchObject({ environmentId: 'e', required: true })
  })
})

describe('a file with servers', () => {
  it('of VS Code is read whole; an input is named with the variable that can stand for it', async () => {
    const { config, problems, file } = await load(
      `{
  "inputs": [{"type": "promptString", "id": "github-token", "password": true}],
  "servers": {
    "a": {"type": "stdio", "command": "c", "env": {"N": 5, "NULL": null, "E": "\${env:X}"}},
    "b": {"type": "http", "url": "http://h/",
          "headers": {"Authorization": "Bearer \${input:github-token}"}}
  }
}`,
      { name: '.vscode/mcp.json', env: { X: 'x' } },
    )
    expect(config('a')?.transport).toMatchObject({ env: { N: '5', E: 'x' } })
    expect(config('b')).toBeUndefined()
    expect(problems).toMatchObject([
      {
        severity: 'error',
        code: 'needs_input',
        server: 'b',
        place: `${file}:6:23 servers.b.headers.Authorization`,
      },
    ])
    expect(problems[0]?.message).toContain(`\${GITHUB_TOKEN}`)
  })
})

describe('a file with mcp', () => {
  it('of opencode is read whole', async () => {
    const { config, problems } = await load(
      `{"mcp": {
        "a": {"type": "local", "command": ["c", "x", "{env:X}", "\${no}"], "environment": {"K": "v"}, "enabled": false},
        "b": {"type": "remote", "url": "http://h/", "headers": {"A": "{env:X}"}, "oauth": false, "timeout": 5000}
      }}`,
      { env: { X: 'x' } },
    )
    expect(problems).toEqual([])
    expect(config('a')).toMatchObject({
      enabled: false,
      transport: { command: 'c', args: ['x', 'x', `\${no}`], env: { K: 'v' } },
    })
    expect(config('b')).toMatchObject({ startupTimeoutMs: 5000, transport: { httpHeaders: { A: 'x' } } })
  })

  it('that is no table of servers says so', async () => {
    expect((await load('{"mcp": {"allowed": ["a"]}}')).problems).toMatchObject([{ code: 'no_servers' }])
  })
})

describe('a fault in a foreign file', () => {
  it('has the place and the words of that file, and spares the siblings', async () => {
    const { problems, servers, file } = await load(
      `{"mcpServers": {
  "good": {"command": "c"},
  "args": {"command": "c", "args": "x"},
  "env": {"command": "c", "env": {"A": true}},
  "none": {"type": "http"},
  "both": {"command": "c", "url": "http://h/"},
  "text": "c",
  "unset": {"command": "c", "args": ["a", "\${NONE}"]}
}}`,
    )
    expect(servers.map(({ name }) => name)).toEqual(['good'])
    expect(problems.map(({ server, code, place }) => [server, code, place])).toEqual([
      ['args', 'wrong_type', `${file}:3:28 mcpServers.args.args`],
      ['env', 'wrong_type', `${file}:4:35 mcpServers.env.env.A`],
      ['none', 'invalid_transport', `${file}:5:3 mcpServers.none`],
      ['both', 'member_not_supported', `${file}:6:3 mcpServers.both`],
      ['text', 'wrong_type', `${file}:7:3 mcpServers.text`],
      ['unset', 'undefined_variable', `${file}:8:29 mcpServers.unset.args`],
    ])
  })

  it('is told where a member is unknown, has no counterpart, or is written twice', async () => {
    const text = `{"mcpServers": {
  "a": {"command": "c", "arg": []},
  "b": {"command": "c", "alwaysAllow": ["t"]},
  "c": {"httpUrl": "http://1/", "url": "http://2/"},
  "c": {"url": "http://3/", "httpUrl": "http://4/"}
}}`
    const { problems, config } = await load(text)
    expect(config('c')?.transport).toMatchObject({ url: 'http://4/' })
    expect(problems.map(({ server, code, severity, message }) => [server, code, severity, message])).toEqual([
      ['a', 'unknown_member', 'warning', `unknown configuration field \`mcpServers.a.arg\`; did you mean \`args\`?`],
      ['b', 'ignored_member', 'warning', `\`alwaysAllow\` has no counterpart here: approvals are not taken over`],
      ['c', 'ignored_member', 'warning', `\`url\` is ignored beside \`httpUrl\``],
      ['c', 'duplicate_member', 'warning', 'is written twice: the last one counts'],
    ])
    expect((await load(text, { strict: true })).problems[0]?.severity).toBe('error')
  })

  it('does not stop a server that is switched off', async () => {
    const { config, problems } = await load(`{"mcpServers": {"a": {"command": "\${NONE}", "disabled": true}}}`)
    expect(config('a')?.enabled).toBe(false)
    expect(problems).toMatchObject([{ code: 'undefined_variable', severity: 'warning' }])
  })
})

describe('variables', () => {
  it('are replaced in our TOML and left alone in one of Codex', async () => {
    const toml = `[mcp_servers.a]\ncommand = "\${X}"\n`
    expect((await load(toml, { name: 'config.toml', env: { X: 'x' } })).config('a')?.transport).toMatchObject({
      command: 'x',
    })
    for (const [name, env] of [
      ['.codex/config.toml', {}],
      ['other/config.toml', { CODEX_HOME: join(root, 'other') }],
    ] as const) {
      const { config, servers, problems } = await load(toml, { name, env: { X: 'x', ...env } })
      expect(config('a')?.transport).toMatchObject({ command: `\${X}` })
      expect(servers[0]).not.toHaveProperty('written')
      expect(problems).toEqual([])
    }
  })

  it('leave other members of a file of Codex alone', async () => {
    const { problems } = await load('model = "x"\n[tui]\na = 1\n[projects."/a"]\nx = 1\n', {
      name: '.codex/config.toml',
    })
    expect(problems).toEqual([])
  })
})
