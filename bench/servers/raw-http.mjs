// The floor: an MCP echo server on node:http and nothing else. node raw-http.mjs PORT
import { createServer } from 'node:http'
import { ECHO_TOOL, echo, SERVER_INFO } from './echo-tool.mjs'

const results = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: SERVER_INFO }),
  'tools/list': () => ({ tools: [ECHO_TOOL] }),
  'tools/call': ({ arguments: args }) => echo(args),
}

createServer(async (request, response) => {
  if (request.method !== 'POST') return void response.writeHead(405).end()
  let body = ''
  for await (const chunk of request) body += chunk
  const { id, method, params } = JSON.parse(body)
  if (id === undefined) return void response.writeHead(202).end()
  const answer = JSON.stringify({ jsonrpc: '2.0', id, result: results[method](params) })
  response.writeHead(200, { 'content-type': 'application/json' }).end(answer)
}).listen(Number(process.argv[2]), '127.0.0.1')
