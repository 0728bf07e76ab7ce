import { SANDBOX_CAPABILITIES } from 'reeve/sandbox'
import { callTool, TOOLS } from './tools.mjs'

const VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']

/** Calls under way, by the JSON text of their id. */
const calls = new Map()

/**
 * The response to one message; undefined for notifications.
 *
 * @param {string} text as it was received: the kit reads the state from it, and keeps every byte
 * @param {'stdio' | 'http'} transport
 */
export async function answer(text, transport) {
  const message = parse(text)
  if (message === undefined) return failure(null, -32700, 'parse error')
  const { id, method, params } = message
  if (method === 'notifications/cancelled') calls.get(JSON.stringify(params?.requestId))?.abort()
  if (id === undefined || typeof method !== 'string') return undefined
  switch (method) {
    case 'initialize':
      return success(id, introduction(params))
    case 'ping':
      return success(id, {})
    case 'tools/list':
      return success(id, { tools: TOOLS })
    case 'tools/call':
      return call(id, params, text, transport)
    default:
      return failure(id, -32601, `no method '${method}'`)
  }
}

/** Ends the call that this text asked for: whoever asked is gone. */
export function cancel(text) {
  calls.get(JSON.stringify(parse(text)?.id))?.abort()
}

async function call(id, params, text, transport) {
  const abort = new AbortController()
  const key = JSON.stringify(id)
  calls.set(key, abort)
  try {
    return success(id, await callTool(params?.name, params?.arguments, { text, transport, signal: abort.signal }))
  } finally {
    calls.delete(key)
  }
}

function introduction(params) {
  const asked = params?.protocolVersion
  return {
    protocolVersion: VERSIONS.includes(asked) ? asked : VERSIONS[0],
    capabilities: { tools: {}, ...SANDBOX_CAPABILITIES },
    serverInfo: { name: 'shell-server', version: '1.0.0' },
  }
}

function parse(text) {
  try {
    const message = JSON.parse(text)
    return typeof message === 'object' && message !== null && !Array.isArray(message) ? message : undefined
  } catch {
    return undefined
  }
}

const success = (id, result) => ({ jsonrpc: '2.0', id, result })
const failure = (id, code, message) => ({ jsonrpc: '2.0', id, error: { code, message } })
