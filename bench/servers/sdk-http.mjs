// What a server author gets from the official SDK: sessions, default settings. node sdk-http.mjs PORT
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { NodeStreamableHTTPServerTransport } from '@modelcontextprotocol/node'
import { Server } from '@modelcontextprotocol/server'
import { ECHO_TOOL, echo, SERVER_INFO } from './echo-tool.mjs'

const sessions = new Map()

createServer(async (request, response) => {
  const id = request.headers['mcp-session-id']
  const transport = sessions.get(id) ?? (id === undefined ? await openSession() : undefined)
  if (transport === undefined) return void response.writeHead(404).end()
  await transport.handleRequest(request, response)
}).listen(Number(process.argv[2]), '127.0.0.1')

async function openSession() {
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => void sessions.set(id, transport),
  })
  const server = new Server(SERVER_INFO, { capabilities: { tools: {} } })
  server.setRequestHandler('tools/list', () => ({ tools: [ECHO_TOOL] }))
  server.setRequestHandler('tools/call', ({ params }) => echo(params.arguments))
  await server.connect(transport)
  return transport
}
