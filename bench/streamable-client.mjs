// A raw keep-alive client of streamable HTTP: one connection per request in flight, no client library but undici's pool.
import { Pool } from 'undici'

/** @returns {Promise<{ request(method, params): Promise<object>, close(): Promise<void> }>} after the handshake */
export async function connectStreamable(url, { headers = {}, inFlight }) {
  const { origin, pathname } = new URL(url)
  const pool = new Pool(origin, { connections: inFlight, pipelining: 1, bodyTimeout: 0 })
  const fixed = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers }
  let lastId = 0

  const post = (message) =>
    pool.request({
      method: 'POST',
      path: pathname,
      headers: fixed,
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    })

  async function request(method, params) {
    lastId += 1
    const response = await post({ id: lastId, method, params })
    const text = await response.body.text()
    if (response.statusCode !== 200) throw new Error(`${method}: ${response.statusCode} ${text.slice(0, 200)}`)
    const session = response.headers['mcp-session-id']
    if (session !== undefined) fixed['mcp-session-id'] = session
    const sse = response.headers['content-type']?.startsWith('text/event-stream')
    return resultOf(sse ? lastFrame(text) : text)
  }

  try {
    const { protocolVersion } = await request('initialize', HELLO)
    fixed['mcp-protocol-version'] = protocolVersion
    const { body } = await post({ method: 'notifications/initialized' })
    await body.dump()
  } catch (error) {
    await pool.destroy()
    throw error
  }
  return { request, close }

  /** Ends the session, so that a system with a child a session does not keep them all. */
  async function close() {
    if (fixed['mcp-session-id'] !== undefined) {
      const { body } = await pool.request({ method: 'DELETE', path: pathname, headers: fixed })
      await body.dump()
    }
    await pool.destroy()
  }
}

export const HELLO = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'bench', version: '1.0.0' },
}

export function resultOf(text) {
  const { result, error } = JSON.parse(text)
  if (error !== undefined) throw new Error(`JSON-RPC error ${error.code}: ${error.message}`)
  return result
}

/** The answer is the last event of its stream. */
function lastFrame(text) {
  const line = text.split('\n').findLast((each) => each.startsWith('data:') && each.length > 6)
  return line === undefined ? '{}' : line.slice(5)
}
