import type { IncomingMessage } from 'node:http'
import { utf8Text } from '../../protocol/index.js'

export type Body =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'too_large' }
  | { readonly kind: 'not_utf8' }
  /** The client left in the middle of it; nobody waits for an answer. */
  | { readonly kind: 'gone' }

/** Reads a body of at most `limit` bytes; what it claims to be long counts before it is read. */
export function readBody(request: IncomingMessage, limit: number): Promise<Body> {
  if (Number(request.headers['content-length'] ?? 0) > limit) return Promise.resolve({ kind: 'too_large' })
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let size = 0
    const settle = (body: Body) => {
      request.off('data', onData).off('end', onEnd).off('close', onGone).off('error', onGone)
      // A request that is destroyed later must not raise an error that nobody listens to.
      request.on('error', () => undefined)
      resolve(body)
    }
    const onData = (chunk: Buffer) => {
      size += chunk.length
      if (size > limit) settle({ kind: 'too_large' })
      else chunks.push(chunk)
    }
    const onEnd = () => settle(decode(chunks))
    const onGone = () => settle({ kind: 'gone' })
    request.on('data', onData).on('end', onEnd).on('close', onGone).on('error', onGone)
  })
}

/**
 * Lets an oversized upload run into nothing for a moment, then cuts it: closing at once would reset the connection, and
 * the client would not see the refusal.
 */
export function discard(request: IncomingMessage, graceMs: number): void {
  request.resume()
  const timer = setTimeout(() => request.destroy(), graceMs)
  request.once('end', () => clearTimeout(timer)).once('close', () => clearTimeout(timer))
}

function decode(chunks: readonly Buffer[]): Body {
  const bytes = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)
  const text = utf8Text(bytes)
  return text === undefined ? { kind: 'not_utf8' } : { kind: 'text', text }
}
