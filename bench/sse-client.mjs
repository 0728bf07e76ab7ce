// The same for the old HTTP+SSE transport: requests go out by POST, all answers come back on one stream.
import { createParser } from 'eventsource-parser'
import { Pool } from 'undici'
import { HELLO } from './streamable-client.mjs'

/** @returns {Promise<{ request(method, params): Promise<object>, close(): Promise<void> }>} after the handshake */
export async function connectSse(url, { inFlight }) {
  const { origin, pathname } = new URL(url)
  const pool = new Pool(origin, { connections: inFlight + 1, pipelining: 1, bodyTimeout: 0 })
  const pending = new Map()
  let lastId = 0
  let endpoint
  try {
    endpoint = await openStream(pool, pathname, (frame) => {
      pending.get(frame.id)?.(frame)
      pending.delete(frame.id)
    })
  } catch (error) {
    await pool.destroy()
    throw error
  }

  async function post(message) {
    const body = JSON.stringify({ jsonrpc: '2.0', ...message })
    const headers = { 'content-type': 'application/json' }
    const response = await pool.request({ method: 'POST', path: endpoint, headers, body })
    await response.body.dump()
    if (response.statusCode >= 300) throw new Error(`${message.method}: ${response.statusCode}`)
  }

  async function request(method, params) {
    lastId += 1
    const id = lastId
    const answered = new Promise((resolve) => pending.set(id, resolve))
    const [{ result, error }] = await Promise.all([answered, post({ id, method, params })])
    if (error !== undefined) throw new Error(`JSON-RPC error ${error.code}: ${error.message}`)
    return result
  }

  await request('initialize', HELLO)
  await post({ method: 'notifications/initialized' })
  return { request, close: () => pool.destroy() }
}

/** Resolves with the path to post to, once the server named it. */
function openStream(pool, path, take) {
  return new Promise((resolve, reject) => {
    const parser = createParser({
      onEvent({ event, data }) {
        if (event === 'endpoint') resolve(data)
        else take(JSON.parse(data))
      },
    })
    pool.request({ method: 'GET', path, headers: { accept: 'text/event-stream' } }).then(({ statusCode, body }) => {
      if (statusCode !== 200) reject(new Error(`GET ${path}: ${statusCode}`))
      const decoder = new TextDecoder()
      body.on('data', (chunk) => parser.feed(decoder.decode(chunk, { stream: true })))
      body.on('error', reject)
    }, reject)
  })
}
