import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/protocol/index.js'
import { buildCli, type CliHome, cliEnvironment, cliHome, echo, printed, reeveCommand, toToml } from './built-cli.js'
import { RawSession } from './gateway/raw-http.js'
import { connectV2 } from './gateway/sdk-clients.js'

const asking = (...args: string[]) => ({ ...echo(...args), default_tools_approval_mode: 'prompt' })

beforeAll(() => buildCli())
let home: CliHome
beforeEach(async () => {
  home = await cliHome({ asking: asking(), other: asking() })
})
afterEach(() => home[Symbol.asyncDispose]())

/** A client of `reeve serve` that can't be asked. */
async function client(): Promise<RawSession> {
  const program = home.start(['serve', '--http', '127.0.0.1:0'])
  const [, url = ''] = await printed(program, /^endpoint\s+(http:\S+)$/m)
  const [, token = ''] = await printed(program, /REEVE_TOKEN=(\S+)$/m)
  return RawSession.open(url, { token })
}

async function called(session: RawSession, name: string): Promise<JsonObject> {
  const answer = await session.request('tools/call', { name, arguments: { message: 'x' } })
  return answer.json()
}

const done = { result: { content: [{ text: 'x' }] } }
const refused = { error: { data: { code: 'approval_required' } } }

describe('reeve approvals', () => {
  it('allow a call of a client that cannot be asked, of that tool alone, until it is revoked', async () => {
    const session = await client()
    expect(await called(session, 'asking__echo')).toMatchObject(refused)
    expect(await home.reeve(['approvals', 'allow', 'asking', 'echo'])).toMatchObject({
      code: 0,
      stdout: "allowed 'echo' of asking, as it is now\n",
    })
    expect(await called(session, 'asking__echo')).toMatchObject(done)
    expect(await called(session, 'asking__media')).toMatchObject(refused)
    expect(await called(session, 'other__echo')).toMatchObject(refused)
    expect(await home.reeve(['approvals', 'revoke', 'asking', 'echo'])).toMatchObject({
      code: 0,
      stdout: "revoked 'echo' of asking\n",
    })
    expect(await called(session, 'asking__echo')).toMatchObject(refused)
  })

  it('hold over a restart, and no longer for a server whose command was edited', async () => {
    await home.reeve(['approvals', 'allow', 'asking', 'echo'])
    const config = join(home.folder, 'config.toml')
    const before = await readFile(config, 'utf8')
    expect(await called(await client(), 'asking__echo')).toMatchObject(done)
    expect(await readFile(config, 'utf8')).toBe(before)
    await writeFile(config, toToml({ asking: asking('--no-prompts') }))
    expect(await called(await client(), 'asking__echo')).toMatchObject(refused)
    await writeFile(config, before)
    expect(await called(await client(), 'asking__echo')).toMatchObject(done)
  })

  it('are listed, as a table and whole', async () => {
    expect(await home.reeve(['approvals', 'list'])).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringContaining('nothing is allowed'),
    })
    for (const [server, tool] of [
      ['asking', 'echo'],
      ['other', 'add'],
    ] as const)
      await home.reeve(['approvals', 'allow', server, tool])
    const table = await home.reeve(['approvals', 'list'])
    expect(table.stdout).toMatch(/^SERVER +TOOL +PLUGIN +GIVEN BY/)
    expect(table.stdout).toMatch(/^asking +echo +\S* *reeve approvals/m)
    const { stdout } = await home.reeve(['approvals', 'list', 'other', '--json'])
    expect(JSON.parse(stdout)).toEqual([
      {
        server: 'other',
        environment_id: null,
        plugin_id: null,
        tool: 'add',
        principal: 'owner',
        given_by: 'operator',
        given_at: expect.stringMatching(/^\d{4}-/),
        endpoint_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        definition_sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ])
    expect(await home.reeve(['approvals', 'export', 'other'])).toMatchObject({ code: 0, stdout })
    const all = await home.reeve(['approvals', 'revoke', '--all', '--json'])
    expect(JSON.parse(all.stdout)).toHaveLength(2)
  })

  it('are given through the broker as well', async () => {
    const { REEVE_NO_BROKER: _, ...rest } = cliEnvironment(home.folder)
    const env = { ...rest, REEVE_NO_BROKER: '', REEVE_BROKER_IDLE_MS: '5000' }
    try {
      const allowed = await home.reeve(['approvals', 'allow', 'asking', 'echo'], { env })
      expect(allowed).toMatchObject({ code: 0 })
      const status = await home.reeve(['broker', 'status', '--json'], { env })
      expect(JSON.parse(status.stdout)).toMatchObject({ running: true })
      const called = await home.reeve(['call', 'asking', 'echo', 'message=x'], { env })
      expect(called).toMatchObject({ code: 0, stdout: 'x\n' })
      const refused = await home.reeve(['call', 'other', 'echo', 'message=x'], { env })
      expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('reeve approvals allow other echo') })
    } finally {
      await home.reeve(['broker', 'stop'], { env })
    }
  })

  it('are not needed where the client of the broker shows forms', async () => {
    const { REEVE_NO_BROKER: _, ...rest } = cliEnvironment(home.folder)
    const env = { ...rest, REEVE_BROKER_IDLE_MS: '5000' }
    const asked: unknown[] = []
    try {
      await using client = await connectV2(
        { kind: 'stdio', ...reeveCommand('serve', '--stdio'), env },
        {
          heard: [],
          onElicit: (params) => {
            asked.push(params)
            return asked.length === 1 ? { action: 'accept', content: {} } : { action: 'decline' }
          },
        },
      )
      expect(await client.callTool('asking__echo', { message: 'x' })).toMatchObject(done.result)
      await expect(client.callTool('asking__echo', { message: 'y' })).rejects.toThrow('user rejected MCP tool call')
      expect(asked).toMatchObject([{ _meta: { tool_params: { message: 'x' } } }, {}])
    } finally {
      await home.reeve(['broker', 'stop'], { env: { REEVE_NO_BROKER: '' } })
    }
  })

  it('say what is wrong with their arguments', async () => {
    expect(await home.reeve(['approvals', 'allow', 'asking', 'ehco'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("Did you mean 'echo'?"),
    })
    expect(await home.reeve(['approvals', 'revoke', 'asking'])).toMatchObject({ code: 1 })
    for (const args of [['forget'], ['allow', 'asking'], ['revoke'], ['revoke', 'asking', '--all']])
      expect(await home.reeve(['approvals', ...args])).toMatchObject({ code: 2 })
  })
})
