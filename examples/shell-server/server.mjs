#!/usr/bin/env node
// An MCP server that runs commands under the policy of each call.
//   node server.mjs               on stdio, as clients start it
//   node server.mjs --http PORT   on 127.0.0.1: every command is refused there, since no launcher can come over HTTP
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createInterface } from 'node:readline'
import { answer, cancel } from './answer.mjs'
import { endAll } from './running.mjs'

const [flag, port] = process.argv.slice(2)
process.on('exit', endAll)
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1))

if (flag === '--http') await serveHttp(Number(port))
else await serveStdio()

/** One request a line, answered in the order in which commands end. */
async function serveStdio() {
  const lines = createInterface({ input: process.stdin })
  lines.on('line', async (line) => {
    const response = await answer(line, 'stdio')
    if (response !== undefined) process.stdout.write(`${JSON.stringify(response)}\n`)
  })
  await once(lines, 'close')
  process.exit(0)
}

/** One request a POST. What a browser sends names its origin, and is turned away. */
async function serveHttp(port) {
  const server = createServer(async (request, response) => {
    if (request.headers.origin !== undefined) return response.writeHead(403).end()
    if (request.method !== 'POST') return response.writeHead(405, { allow: 'POST' }).end()
    const body = await bodyOf(request)
    if (body === undefined) return response.writeHead(413).end()
    response.on('close', () => response.writableFinished || cancel(body))
    const message = await answer(body, 'http')
    if (message === undefined) return response.writeHead(202).end()
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(message))
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  console.error(`http://127.0.0.1:${server.address().port}/`)
}

/** Undefined when it is larger than any request needs to be. */
async function bodyOf(request) {
  const chunks = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += chunk.length
    if (bytes > 8_388_608) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
