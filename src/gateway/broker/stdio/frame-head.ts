import type { JsonValue } from '../../../protocol/index.js'

/** What a frame of the broker is, as far as the bridge has to know. The frame itself passes as it came. */
export type FrameHead =
  | { readonly kind: 'response'; readonly id: JsonValue; readonly failed: boolean }
  | { readonly kind: 'request'; readonly id: JsonValue }
  | { readonly kind: 'notification'; readonly method: string }
  | { readonly kind: 'batch'; readonly heads: readonly FrameHead[] }
  | { readonly kind: 'other' }

/** The first bytes of a frame as our own side writes it. Results may be megabytes, and aren't parsed to be passed on. */
const HEAD =
  /^\{"jsonrpc":"2\.0",(?:"id":(-?\d{1,16}|"(?:[^"\\]|\\.){0,256}"),)?"(method|result|error)":(?:("(?:[^"\\]|\\.){0,256}"))?/
const HEAD_BYTES = 1024

/** Reads the head of a frame that the broker wrote; the whole frame only where that isn't enough. */
export function frameHead(line: Buffer): FrameHead {
  const [, id, member, method] = HEAD.exec(line.toString('utf8', 0, HEAD_BYTES)) ?? []
  if (member === 'method' && method !== undefined) {
    return id === undefined
      ? { kind: 'notification', method: String(parsed(method)) }
      : { kind: 'request', id: parsed(id) }
  }
  if ((member === 'result' || member === 'error') && id !== undefined) {
    return { kind: 'response', id: parsed(id), failed: member === 'error' }
  }
  return headOf(parsed(line.toString('utf8')))
}

function headOf(value: JsonValue): FrameHead {
  if (Array.isArray(value)) return { kind: 'batch', heads: value.map(headOf) }
  if (typeof value !== 'object' || value === null) return { kind: 'other' }
  const { id, method } = value
  if (typeof method === 'string') return id === undefined ? { kind: 'notification', method } : { kind: 'request', id }
  return id === undefined || id === null ? { kind: 'other' } : { kind: 'response', id, failed: !('result' in value) }
}

function parsed(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return null
  }
}
