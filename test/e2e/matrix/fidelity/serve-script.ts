import { once } from 'node:events'
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { JsonObject } from '../../../../src/protocol/index.js'
import type { Era } from '../clients/client.js'
import type { TransportKind, Upstream } from '../upstream.js'
import type { ScriptedServer } from './scripted-server.js'

const PIPE = fileURLToPath(new URL('./pipe-to-port.mjs', import.meta.url))

/** Puts a scripted server where a gateway can reach it. */
export function serveScript(server: ScriptedServer, era: Era, transport: TransportKind): Promise<Upstream> {
  return transport === 'stdio' ? overStdio(server) : overHttp(server, era)
}

async function overStdio(server: ScriptedServer): Promise<Upstream> {
  const sockets = new Set<Socket>()
  const listening = createTcpServer((socket) => {
    sockets.add(socket)
    const send = (message: JsonObject) => void socket.write(`${JSON.stringify(message)}\n`)
    const deafen = server.listen(send)
    socket.on('error', () => undefined).once('close', deafen)
    createInterface({ input: socket }).on('line', (line) => {
      void server.receive(JSON.parse(line) as JsonObject, send)
    })
  })
  const port = await listen(listening)
  return {
    toml: `command = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify([PIPE, String(port)])}`,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      await close(listening)
    },
  }
}

async function overHttp(server: ScriptedServer, era: Era): Promise<Upstream> {
  const listening = createHttpServer((request, response) => {
    void answer(server, era, request, response)
  })
  const port = await listen(listening)
  return {
    toml: `url = "http://127.0.0.1:${port}/mcp"`,
    [Symbol.asyncDispose]: async () => {
      listening.closeAllConnections()
      await close(listening)
    },
  }
}

async function answer(
  server: ScriptedServer,
  era: Era,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const send = (message: JsonObject) => void response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`)
  if (request.method === 'GET' && era === 'old') {
    response.writeHead(200, STREAM).flushHeaders()
    response.once('close', server.listen(send))
    return
  }
  if (request.method !== 'POST') return void response.writeHead(request.method === 'DELETE' ? 200 : 405).end()
  const message = JSON.parse(await text(request)) as JsonObject
  if (message.method === undefined || message.id === undefined) {
    void server.receive(message, send)
    return void response.writeHead(202).end()
  }
  response.writeHead(200, { ...STREAM, ...(message.method === 'initialize' && { 'mcp-session-id': 'scripted' }) })
  response.flushHeaders()
  await server.receive(message, send)
  if (message.method !== 'subscriptions/listen') response.end()
}

const STREAM = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' }

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

async function close(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  await closed
}
