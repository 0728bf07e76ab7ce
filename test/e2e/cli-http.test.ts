import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ScriptedServer, startServer } from '../fixtures/http/server.js'
import { buildCli, cliHome } from './built-cli.js'

// Bundling splits packages into chunks of their own: what works from the sources may not work from the bundle.
describe('the built command line with an HTTP server', () => {
  let server: ScriptedServer

  beforeAll(async () => {
    await buildCli()
    server = await startServer({
      'tools/list': ({ result }) => result({ tools: [{ name: 'echo', inputSchema: { type: 'object' } }] }),
      'tools/call': ({ message, result }) =>
        result({ content: [{ type: 'text', text: JSON.stringify(message.params?.arguments) }] }),
    })
  })

  afterAll(() => server.close())

  it('calls its tool, and writes its log with the level asked for', async () => {
    await using home = await cliHome({ web: { url: server.url } })
    const called = await home.reeve(['--log-level', 'debug', 'call', 'web', 'echo', 'message=hi'])
    expect(called.stderr).not.toContain('error')
    expect(called).toMatchObject({ code: 0, stdout: '{"message":"hi"}\n' })
  })
})
