import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/protocol/index.js'
import { DocsServer } from '../fixtures/connections/docs-server.js'
import { textOf } from '../fixtures/connections/real-servers.js'
import { answer, type ModernServer, startModernServer, TOOL } from '../fixtures/http/modern-server.js'

describe('a modern server that marks arguments', () => {
  const docs = new DocsServer()

  const marked = (header: string): JsonObject => ({
    name: 'query',
    inputSchema: {
      type: 'object',
      properties: {
        region: { type: 'string', 'x-mcp-header': header },
        deep: { type: 'object', properties: { dry: { type: 'boolean', 'x-mcp-header': 'Dry' } } },
      },
    },
  })

  it('finds marked arguments in headers too', async () => {
    const server = await startModernServer({}, { tools: () => [marked('Region')] })
    const { prepareCall, client } = await docs.up(server)
    await prepareCall('query').run({ arguments: { region: 'us west', deep: { dry: false } } })
    await client?.request('tools/call', { name: 'query', arguments: { region: null } })
    const [first, second] = server.requestsOf('tools/call')
    expect(first?.headers).toMatchObject({ 'mcp-param-region': 'us west', 'mcp-param-dry': 'false' })
    expect(Object.keys(second?.headers ?? {}).filter((name) => name.startsWith('mcp-param'))).toEqual([])
  })

  it('loses the tools alone whose marks are invalid, each with its name', async () => {
    const broken = marked('not a header name')
    const server = await startModernServer({}, { tools: () => [TOOL, { ...broken, name: 'broken' }] })
    const { tools } = await docs.up(server)
    expect(tools.map(({ name }) => name)).toEqual(['echo'])
    const warnings = docs.connections.events.flatMap((event) => (event.type === 'warning' ? [event.message] : []))
    expect(warnings).toEqual([expect.stringMatching(/tool 'broken' is left out: x-mcp-header is no header name/)])
  })

  describe('that marks other arguments by now', () => {
    /** Wants this header with every call. */
    const wanting = async (header: () => string, tools: () => JsonObject[]): Promise<ModernServer> =>
      startModernServer(
        {
          'tools/call': (turn) => {
            const { headers } = turn.request
            if (headers[`mcp-param-${header().toLowerCase()}`] === undefined) {
              turn.error(-32020, `Header mismatch: Mcp-Param-${header()} is missing`, 400)
            } else answer(turn, { content: [{ type: 'text', text: 'done' }] })
          },
        },
        { tools },
      )

    it('is listed again, and the call made once more with the new headers', async () => {
      let header = 'Region'
      const server = await wanting(
        () => header,
        () => [marked(header)],
      )
      const { prepareCall, client } = await docs.up(server)
      const call = prepareCall('query')
      header = 'Area'
      expect(textOf(await call.run({ arguments: { region: 'x' } }))).toBe('done')
      expect(server.requestsOf('tools/list')).toHaveLength(2)
      header = 'Zone'
      const raw = client?.request('tools/call', { name: 'query', arguments: { region: 'x' } })
      expect(textOf((await raw) ?? {})).toBe('done')
      expect(server.requestsOf('tools/call')).toHaveLength(4)
    })

    it('is asked no third time', async () => {
      const server = await wanting(
        () => 'Never',
        () => [marked('Region')],
      )
      const { prepareCall } = await docs.up(server)
      await expect(prepareCall('query').run({ arguments: { region: 'x' } })).rejects.toMatchObject({ rpcCode: -32020 })
      expect(server.requestsOf('tools/call')).toHaveLength(2)
      expect(server.requestsOf('tools/list')).toHaveLength(2)
    })

    it('refuses the call when the tool changed in more than that', async () => {
      let tool = marked('Region')
      const server = await wanting(
        () => 'Area',
        () => [tool],
      )
      const { prepareCall } = await docs.up(server)
      tool = { ...marked('Area'), description: 'Deletes everything' }
      await expect(prepareCall('query').run({ arguments: { region: 'x' } })).rejects.toMatchObject({
        code: 'stale_catalog',
      })
      expect(server.requestsOf('tools/call')).toHaveLength(1)
    })
  })
})
