import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Backend, startBackend } from '../standins/backend.js'
import { APPS_PATH, appsRequests, appTool, offerApps } from '../standins/backend-apps.js'
import { json } from '../standins/backend-model.js'
import { type BackendProxy, startBackendProxy } from '../standins/backend-proxy.js'
import { buildCli, type CliHome, cliEnvironment, cliHome, reeveCommand } from './built-cli.js'

let home: CliHome
let backend: Backend
let proxy: BackendProxy
beforeAll(buildCli)
beforeEach(async () => {
  home = await cliHome()
  backend = await startBackend()
  proxy = await startBackendProxy(backend)
  await writeFile(join(home.folder, 'ca.pem'), backend.ca)
})
afterEach(async () => {
  await home[Symbol.asyncDispose]()
  await proxy[Symbol.asyncDispose]()
  await backend[Symbol.asyncDispose]()
})

async function signIn(): Promise<void> {
  const { accessToken, accountId } = backend.model.issue({ account: 'acct-1', user: 'user-1', exp: 4_000_000_000 })
  const record = { auth_mode: 'chatgpt', tokens: { access_token: accessToken, account_id: accountId } }
  await writeFile(join(home.folder, 'auth.json'), JSON.stringify(record))
  await writeFile(join(home.folder, 'config.toml'), '[features]\napps = true\nauth_elicitation = true\n')
}

const env = () => ({ HTTPS_PROXY: proxy.url, REEVE_CA_CERTIFICATE: join(home.folder, 'ca.pem') })
const reeve = (...args: string[]) => home.reeve(args, { env: env() })

describe('reeve apps', () => {
  it('lists the apps of the account, refreshes them, and shows the directory', async () => {
    await signIn()
    const calendar = { connector_id: 'c1', connector_name: 'Calendar' }
    offerApps(backend.model, () => [appTool('calendar_create', calendar), appTool('calendar_list', calendar)])
    const listed = await reeve('--json', 'apps')
    expect(listed.stderr).toBe('')
    expect(JSON.parse(listed.stdout)).toEqual([
      {
        id: 'c1',
        name: 'Calendar',
        enabled: true,
        tools: ['calendar_create', 'calendar_list'],
        install_url: 'https://chatgpt.com/apps/calendar/c1',
      },
    ])
    offerApps(backend.model, () => [appTool('calendar_move', calendar)])
    expect((await reeve('apps', 'refresh')).stdout).toMatch(/Calendar\s+c1\s+1\s+enabled/)
    backend.model.pathReplies.set('GET /backend-api/connectors/directory/list', [
      json(200, { apps: [{ id: 'm1', name: 'Mail\u001b[31m' }] }),
    ])
    const directory = await reeve('apps', 'directory')
    expect(directory.stdout).toContain('https://chatgpt.com/apps/mail-31m/m1')
    expect(directory.stdout).not.toContain('\u001b')
    const tools = await reeve('--json', 'tools', 'codex_apps')
    expect(tools.stdout).toContain('calendar_move')
    expect((await reeve('call', 'codex_apps', 'calendar_move')).code).toBe(0)
    expect(appsRequests(backend.model, 'tools/call')).toMatchObject([{ account: 'acct-1' }])
    expect(backend.model.violations).toEqual([])
  })

  it('says what is missing where there are none', async () => {
    const none = await reeve('apps')
    expect(none).toMatchObject({ code: 1, stderr: expect.stringContaining('apps = true') })
    expect(await reeve('apps', 'directory')).toMatchObject({ code: 1, stderr: expect.stringMatching(/sign/i) })
    expect((await reeve('apps', 'other')).code).toBe(2)
  })
})

describe('the gateway', () => {
  it('has the apps of its owner, and puts the question for a sign-in to its client', async () => {
    await signIn()
    const { model } = backend
    offerApps(model, () => [appTool('calendar_create', { connector_id: 'c1', connector_name: 'Calendar' })])
    model.mcpResults.set(`${APPS_PATH} tools/call`, () => ({
      content: [],
      isError: true,
      _meta: { _codex_apps: { connector_auth_failure: { is_auth_failure: true, auth_reason: 'missing_link' } } },
    }))
    const asked: unknown[] = []
    const client = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: { form: {}, url: {} } } })
    client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
      asked.push(params)
      return { action: 'accept' }
    })
    const program = reeveCommand('serve', '--stdio')
    await client.connect(
      new StdioClientTransport({
        ...program,
        args: [...program.args],
        env: { ...cliEnvironment(home.folder), ...env() },
      }),
    )
    try {
      const [tool] = (await client.listTools()).tools
      expect(tool?.name).toMatch(/codex_apps.*create/)
      const result = await client.callTool({ name: tool?.name ?? '', arguments: {} })
      expect(asked).toMatchObject([
        { mode: 'url', url: 'https://chatgpt.com/apps/calendar/c1', message: 'Sign in to Calendar to use it.' },
      ])
      expect(result).toMatchObject({ isError: true })
      expect(JSON.stringify(result.content)).toContain('call the tool again')
    } finally {
      await client.close()
    }
    expect(model.violations).toEqual([])
  })
})
