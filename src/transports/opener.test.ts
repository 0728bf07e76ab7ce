import { describe, expect, it } from 'vitest'
import { failure } from '../../test/fixtures/http/plain.js'
import { type ScriptedServer, startServer } from '../../test/fixtures/http/server.js'
import { httpConfig } from '../../test/fixtures/server-config.js'
import { createHttpClient, LocalEnvironment } from '../environments/index.js'
import { serverKey } from '../identity/index.js'
import { Peer } from '../protocol/index.js'
import { type Openable, transportOpener } from './opener.js'

const AGENT_PLUGIN = { kind: 'selected_plugin', plugin: { agentPlugin: true } }
const OTHER_PLUGIN = { kind: 'selected_plugin', plugin: { agentPlugin: false } }

/** Answers where a redirect leads to, and redirects within its origin. */
async function movedServer(): Promise<ScriptedServer> {
  return startServer({
    'tools/list': ({ request, text, result }) =>
      request.url === '/mcp' ? text(307, '', { Location: '/moved' }) : result({ tools: [] }),
  })
}

async function listTools(server: ScriptedServer, headers: Record<string, string>, source: Openable['source']) {
  const http = createHttpClient({ env: {} })
  const local = new LocalEnvironment({ http })
  const open = transportOpener({
    environments: new Map([['local', local]]),
    parentEnv: { TOKEN: 'secret' },
    defaultCwd: process.cwd(),
  })
  const transport = headers.bearer === undefined ? { httpHeaders: headers } : { bearerTokenEnvVar: headers.bearer }
  const peer = new Peer(
    await open(
      { key: serverKey('notes'), config: httpConfig(server.url, transport), ...(source && { source }) },
      { signal: AbortSignal.timeout(10_000) },
    ),
    { onRequest: async () => ({}), onNotification: ignore, onClose: ignore, onWarning: ignore },
  )
  await peer.start()
  try {
    return await peer.request('tools/list')
  } finally {
    await peer.close()
    await local.close()
    await http.close()
  }
}

function ignore(): void {}

describe('a redirect of an HTTP server', () => {
  it.each([
    ['a configured header', { 'X-Key': 'k' }],
    ['a bearer token', { bearer: 'TOKEN' }],
  ])('is refused to an Agent Plugin whose requests carry %s', async (_what, headers) => {
    await using server = await movedServer()
    expect(await failure(listTools(server, headers, AGENT_PLUGIN))).toMatchObject({ code: 'redirect_refused' })
    expect(server.received.map(({ path }) => path)).toEqual(['/mcp'])
  })

  it.each([
    ['an Agent Plugin whose requests carry nothing', {}, AGENT_PLUGIN],
    ['another plugin', { 'X-Key': 'k' }, OTHER_PLUGIN],
    ['the configuration', { 'X-Key': 'k' }, { kind: 'config' }],
    ['nobody in particular', { 'X-Key': 'k' }, undefined],
  ])('is followed within the origin for a server of %s', async (_whose, headers, source) => {
    await using server = await movedServer()
    expect(await listTools(server, headers, source)).toEqual({ tools: [] })
    expect(server.received.map(({ path }) => path)).toEqual(['/mcp', '/moved'])
  })
})
