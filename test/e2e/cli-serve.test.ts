import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { isRunning } from '../fixtures/stdio/running.js'
import { buildCli, type CliHome, cliEnvironment, cliHome, echo, printed, reeveCommand } from './built-cli.js'
import { connectV2 } from './gateway/sdk-clients.js'

beforeAll(buildCli)

const ears = () => ({ heard: [], onElicit: () => ({ action: 'accept' as const, content: {} }) })

async function serving(home: CliHome, ...args: string[]) {
  const program = home.start(['serve', '--http', '127.0.0.1:0', ...args])
  const [, url = ''] = await printed(program, /^endpoint\s+(http:\S+)$/m)
  return { program, url }
}
const tokenOf = (home: CliHome) => readFileSync(join(home.folder, 'run', 'gateway-token'), 'utf8').trim()

describe('reeve serve --http', () => {
  it('prints endpoint, token, the lines that connect clients, and the tools of each server', async () => {
    await using home = await cliHome({
      notes: echo(),
      gone: { command: 'no-such-program-anywhere' },
      off: { ...echo(), enabled: false },
    })
    const { program, url } = await serving(home)
    await printed(program, /^notes\s+\d+ tools$/m)
    await printed(program, /^gone\s.*no such program/m)
    await printed(program, /^off\s+disabled$/m)
    const token = tokenOf(home)
    const text = program.stderr()
    expect(text.split(token)).toHaveLength(2)
    expect(text).toContain(`export REEVE_TOKEN=${token}`)
    expect(text).toContain(
      `claude mcp add --scope user --transport http reeve ${url} --header "Authorization: Bearer $REEVE_TOKEN"`,
    )
    expect(text).toContain(`codex mcp add reeve --url ${url} --bearer-token-env-var REEVE_TOKEN`)
    expect(text).toContain(`--header "Authorization: Bearer $REEVE_TOKEN" --method tools/list ${url}`)
    expect(statSync(join(home.folder, 'run', 'gateway-token')).mode & 0o077).toBe(0)
  })

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('ends its servers and its port at %s, and exits with %d', async (signal, code) => {
    await using home = await cliHome({ notes: echo() })
    const { program, url } = await serving(home)
    const client = await connectV2({ kind: 'http', url, token: tokenOf(home) }, ears())
    const { content } = await client.callTool('notes__process')
    const [{ text }] = content as [{ text: string }]
    const { pid } = JSON.parse(text)
    expect(isRunning(pid)).toBe(true)
    program.child.kill(signal)
    expect(await program.exited).toEqual({ code, signal: null })
    expect(isRunning(pid)).toBe(false)
    await expect(fetch(url)).rejects.toThrow()
  })

  it('ends in the middle of starting a server, too', async () => {
    await using home = await cliHome({ slow: echo('--start-delay', '60000') })
    const { program } = await serving(home)
    program.child.kill('SIGINT')
    expect(await program.exited).toEqual({ code: 130, signal: null })
  })

  it('lets nobody in without the token, and everybody on this machine with --no-token', async () => {
    await using home = await cliHome({ notes: echo() })
    const closed = await serving(home)
    expect((await fetch(closed.url, { method: 'POST', body: '{}' })).status).toBe(401)
    const open = await serving(home, '--no-token')
    await printed(open.program, /^token\s+none needed$/m)
    expect(open.program.stderr()).not.toContain('REEVE_TOKEN')
    await using client = await connectV2({ kind: 'http', url: open.url, token: 'any' }, ears())
    expect((await client.listTools()).map(({ name }) => name)).toContain('notes__echo')
  })

  it('gives machines the endpoint as JSON, without the token', async () => {
    await using home = await cliHome({ notes: echo() })
    const program = home.start(['serve', '--http', '127.0.0.1:0', '--json', '--quiet', '--token-file', 'mine'])
    const [chunk] = await new Promise<[Buffer]>((resolve) =>
      program.child.stdout.once('data', (data) => resolve([data])),
    )
    expect(JSON.parse(chunk.toString())).toEqual({
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/mcp$/),
      token_file: join(home.folder, 'mine'),
    })
    expect(program.stderr()).toBe('')
  })

  it.each([
    [['--http', '127.0.0.1:0', '--stdio'], 'not both', 2],
    [['--http', 'nowhere'], '--http takes HOST:PORT', 2],
    [['--http', '127.0.0.1:70000'], '--http takes HOST:PORT', 2],
    [['--stdio', '--no-token'], 'needs no token', 2],
    [['--http', '0.0.0.0:0', '--no-token'], 'without a token', 1],
  ])('refuses %j', async (args, text, code) => {
    await using home = await cliHome()
    const refused = await home.reeve(['serve', ...args])
    expect(refused.stderr).toContain(text)
    expect(refused.code).toBe(code)
  })
})

describe('reeve serve --stdio', () => {
  it('puts nothing but MCP on stdout, whatever the log level, and ends with its client', async () => {
    await using home = await cliHome({ notes: echo('--banner', 'hello from a noisy server') })
    const program = home.start(['--log-level', 'trace', 'serve', '--stdio'])
    const lines: string[] = []
    program.child.stdout.on('data', (chunk: Buffer) => lines.push(...chunk.toString().split('\n')))
    const answered = new Promise<void>((resolve) => {
      program.child.stdout.on('data', () => lines.some((line) => line.includes('"id":2')) && resolve())
    })
    const initialize = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } }
    for (const message of [
      { id: 1, method: 'initialize', params: initialize },
      { method: 'notifications/initialized' },
      { id: 2, method: 'tools/call', params: { name: 'notes__echo', arguments: { message: 'hi' } } },
    ])
      program.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    await answered
    program.child.stdin.end()
    expect(await program.exited).toEqual({ code: 0, signal: null })
    const messages = lines.filter((line) => line !== '').map((line) => JSON.parse(line))
    expect(messages.every(({ jsonrpc }) => jsonrpc === '2.0')).toBe(true)
    expect(messages.find(({ id }) => id === 2).result.content).toEqual([{ type: 'text', text: 'hi' }])
  })

  it('serves an SDK client that starts it', async () => {
    await using home = await cliHome({ notes: echo() })
    const { command, args } = reeveCommand('serve', '--stdio')
    const env = cliEnvironment(home.folder)
    await using client = await connectV2({ kind: 'stdio', command, args, env }, ears())
    expect((await client.callTool('notes__add', { a: 1, b: 2 })).structuredContent).toEqual({ sum: 3 })
  })
})
