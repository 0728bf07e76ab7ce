import { type JsonRpcMessage, RPC, utf8Text } from '../../protocol/index.js'
import { isMessage } from '../http/read-messages.js'

export interface ReadLine {
  readonly messages: readonly JsonRpcMessage[]
  /** What else was in the line, each completing "the server wrote …". */
  readonly noise: readonly string[]
}

/**
 * The messages in one line of stdout: one, or those of a batch. Blank lines are nothing. An answer that carries an id
 * but no usable result or error becomes an error answer to that id, since nothing better will come.
 */
export function readLine(line: Buffer): ReadLine {
  const text = utf8Text(line)
  if (text === undefined) return { messages: [], noise: ['bytes that are not UTF-8'] }
  if (text.trim() === '') return NOTHING
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { messages: [], noise: ['text that is not JSON'] }
  }
  if (isMessage(value)) return { messages: [value], noise: [] }
  if (Array.isArray(value) && value.length > 0) return readBatch(value)
  return readOther(value)
}

const NOTHING: ReadLine = { messages: [], noise: [] }

function readBatch(elements: readonly unknown[]): ReadLine {
  const messages: JsonRpcMessage[] = []
  const noise: string[] = []
  for (const element of elements) {
    const read = isMessage(element) ? { messages: [element], noise: [] } : readOther(element)
    messages.push(...read.messages)
    noise.push(...read.noise)
  }
  return { messages, noise }
}

function readOther(value: unknown): ReadLine {
  if (!isBrokenAnswer(value)) return { messages: [], noise: ['JSON that is no JSON-RPC message'] }
  const error = { code: RPC.internalError, message: 'the server answered with neither a result object nor an error' }
  return { messages: [{ jsonrpc: '2.0', id: value.id, error }], noise: ['an answer that is no JSON-RPC answer'] }
}

/** With the version member: a log line in JSON may well have an `id` of its own. */
function isBrokenAnswer(value: unknown): value is { id: string | number } {
  if (typeof value !== 'object' || value === null || !('jsonrpc' in value) || value.jsonrpc !== '2.0') return false
  if ('method' in value || !('id' in value)) return false
  return typeof value.id === 'string' || typeof value.id === 'number'
}
