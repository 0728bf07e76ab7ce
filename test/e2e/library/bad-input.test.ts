import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/protocol/index.js'
import type { Reeve, ServerStatus, Step, Thread, ThreadEvent } from '../../../src/reeve.js'
import { type ScriptedServer, startServer } from '../../fixtures/http/server.js'
import { httpServer, stdioServer, TempHome } from './temp-home.js'

/**
 * Everything bad at once, beside one good server: each fault gets a name and a place, and the good server, and the good
 * tools of bad servers, work.
 */
describe('one catalog full of bad servers', () => {
  const home = new TempHome()
  const http: ScriptedServer[] = []
  const events: ThreadEvent[] = []
  let reeve: Reeve
  let thread: Thread
  let step: Step

  beforeAll(async () => {
    const serve = async (routes: Parameters<typeof startServer>[0]) => {
      const server = await startServer(routes)
      http.push(server)
      return server.url
    }
    const urls = {
      html: await serve({
        POST: ({ response }) => {
          response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end('<html>welcome</html>')
        },
      }),
      broken: await serve({
        POST: ({ text }) => text(500, 'Authorization: Bearer sk-secret123 and api_key=sk-secret123 exploded'),
      }),
      away: await serve({ POST: ({ text }) => text(307, '', { location: 'http://198.51.100.7/mcp?token=secret' }) }),
      endless: await serve({
        POST: ({ response }) => {
          response.writeHead(200, { 'content-type': 'application/json' })
          response.write('{"jsonrpc":"2.0","id":1,"result":{"padding":"')
          const chunk = 'x'.repeat(1024 * 1024)
          const more = () => {
            while (!response.destroyed && response.write(chunk)) {}
          }
          response.on('drain', more)
          more()
        },
      }),
    }
    home.write(
      'config.toml',
      [
        stdioServer('good', 'echo.mjs'),
        stdioServer('banner', 'noisy.mjs'),
        stdioServer('flood', 'flood.mjs'),
        stdioServer('utf8', 'invalid-utf8.mjs'),
        stdioServer('wrong-ids', 'wrong-ids.mjs', [], 'startup_timeout_sec = 2'),
        stdioServer('silent', 'silent.mjs', [], 'startup_timeout_sec = 2'),
        stdioServer('exit-3', 'exit-3.mjs'),
        stdioServer('old', 'echo.mjs', ['--protocol', '1999-01-01']),
        stdioServer('odd-tools', 'echo.mjs', [
          '--schema-kb',
          '210',
          '--recursive-schema',
          '--long-name',
          '300',
          '--duplicate-tool',
        ]),
        stdioServer('many', 'echo.mjs', ['--tools', '10000']),
        stdioServer('endless-pages', 'echo.mjs', ['--endless-pages']),
        stdioServer('repeated-cursor', 'echo.mjs', ['--page-size', '2', '--repeat-cursor']),
        '[mcp_servers.missing]\ncommand = "no-such-program-anywhere"\n',
        '[mcp_servers."bad name!"]\ncommand = "node"\n',
        httpServer('html', urls.html),
        httpServer('broken', urls.broken),
        httpServer('away', urls.away),
        httpServer('endless', urls.endless),
        httpServer('refused', 'http://127.0.0.1:9/mcp', 'startup_timeout_sec = 5'),
        httpServer('no-token', 'http://127.0.0.1:9/mcp', 'bearer_token_env_var = "NO_SUCH_TOKEN"'),
      ].join('\n'),
    )
    reeve = await home.open()
    thread = await reeve.startThread({ naming: 'readable', onEvent: (event) => events.push(event) })
    step = await thread.step({ wait: 'all' })
  })

  afterAll(async () => {
    await reeve.close()
    for (const server of http) await server.close()
    home[Symbol.dispose]()
  })

  it.each([
    ['flood', /16777216|limit/],
    ['silent', /timed out.*startup_timeout_sec/s],
    ['exit-3', /code 3/],
    ['old', /1999-01-01/],
    ['many', /tools\/list.*2048/],
    ['endless-pages', /tools\/list.*100/],
    ['repeated-cursor', /cursor/],
    ['missing', /no-such-program-anywhere/],
    ['bad name!', /Invalid MCP server name 'bad name!'/],
    ['html', /text\/html/],
    ['broken', /500/],
    ['away', /redirect.*198\.51\.100\.7/],
    ['endless', /limit/],
    ['refused', /127\.0\.0\.1:9/],
    ['no-token', /NO_SUCH_TOKEN/],
  ])('names what is wrong with %s', (name, reason) => {
    const row = statusOf(name)
    expect(row.status, name).toMatch(/^(failed|starting)$/)
    expect(row.error?.message).toMatch(reason)
    expect(row.error?.message).toContain(name)
    expect(row.error?.key).toEqual({ name, environment: null })
  })

  it('shows no secret of a server in its failure', () => {
    const shown = JSON.stringify([thread.servers().map(({ error }) => [error?.message, error]), events])
    expect(shown).not.toMatch(/sk-secret123|token=secret/)
  })

  it.each(['good', 'banner', 'utf8', 'odd-tools', 'wrong-ids'])('brings %s up all the same', (name) => {
    expect(statusOf(name)).toMatchObject({ status: 'connected', cached: false })
    expect(statusOf(name).error).toBeUndefined()
  })

  it.each(['good', 'odd-tools'])('calls the tools of %s', async (name) => {
    const result = await thread.callTool({ server: name, tool: 'echo', arguments: { message: 'works' } })
    expect((result.content as JsonObject[])[0]).toMatchObject({ text: 'works' })
  })

  it('warns of what a good server does on the side, with its key', () => {
    const warned = (name: string) =>
      events.flatMap((event) => (event.type === 'warning' && event.key.name === name ? [event.message] : []))
    expect(warned('banner').join('\n')).toMatch(/stdout/)
    expect(warned('utf8').join('\n')).toMatch(/UTF-8/)
    expect(warned('wrong-ids').join('\n')).toMatch(/nobody asked/)
    expect(warned('odd-tools').join('\n')).toMatch(/echo/)
    expect(warned('good')).toEqual([])
  })

  it('offers odd tools whole, under names that fit', () => {
    const odd = step.tools.filter(({ key }) => key.name === 'odd-tools')
    const byRaw = new Map(odd.map((tool) => [tool.tool, tool]))
    expect(JSON.stringify(byRaw.get('wide')?.definition.inputSchema).length).toBeGreaterThan(200_000)
    expect(byRaw.get('tree')?.definition.inputSchema).toMatchObject({ $defs: { node: {} } })
    expect(byRaw.get('n'.repeat(300))?.flat.length).toBeLessThanOrEqual(64)
    expect(odd.filter(({ tool }) => tool === 'echo')).toHaveLength(1)
  })

  function statusOf(name: string): ServerStatus {
    const row = thread.servers().find(({ key }) => key.name === name)
    if (row === undefined) throw new Error(`no row for ${name}`)
    return row
  }
})
