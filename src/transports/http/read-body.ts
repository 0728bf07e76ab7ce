import type { HttpResponse } from '../../environments/index.js'
import { LimitExceededError } from '../../errors.js'
import type { Timers } from './timers.js'

/** The whole body as UTF-8 text. Throws `LimitExceededError`, from the declared length when there is one. */
export async function readText(response: HttpResponse, limit: number, place: string): Promise<string> {
  const tooLarge = () => new LimitExceededError(`the response body of ${place} in bytes`, limit, { place })
  if (declaredLength(response) > limit) {
    response.cancel()
    throw tooLarge()
  }
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response.body) {
    size += chunk.length
    // Throwing here also cancels the rest.
    if (size > limit) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, size).toString('utf8')
}

export interface BodyPrefix {
  readonly bytes: Buffer
  /** The body ended within the prefix. */
  readonly complete: boolean
  /** The declared length, or what was read. */
  readonly atLeast: number
}

/** How long an error body may take: it is only shown to people. */
const PREFIX_TIME = 5000

/** Up to `limit` bytes of a body that only explains an error; a cut or slow one gives what came. Frees the socket. */
export async function readPrefix(
  response: HttpResponse,
  limit: number,
  timers: Timers,
  signal: AbortSignal,
): Promise<BodyPrefix> {
  const chunks: Buffer[] = []
  let size = 0
  let complete = false
  const stopWaiting = timers.after(PREFIX_TIME, () => response.cancel())
  try {
    complete = true
    for await (const chunk of response.body) {
      chunks.push(chunk)
      size += chunk.length
      if (size > limit) {
        complete = false
        break
      }
    }
  } catch (error) {
    // What the caller gave up is no answer; anything else just shortens the text.
    if (signal.aborted) throw error
    complete = false
  } finally {
    stopWaiting()
  }
  const declared = declaredLength(response)
  return { bytes: Buffer.concat(chunks, size), complete, atLeast: Math.max(size, declared) }
}

/** A body that nobody wants: read while it is short, so that the connection can be used again; else dropped. */
export async function discard(response: HttpResponse, timers: Timers): Promise<void> {
  const stopWaiting = timers.after(PREFIX_TIME, () => response.cancel())
  let size = 0
  try {
    for await (const chunk of response.body) {
      size += chunk.length
      if (size > DISCARD_AT_MOST) break
    }
  } catch {
    // The answer's head said everything; how its body ends changes nothing.
  } finally {
    stopWaiting()
  }
}

const DISCARD_AT_MOST = 64 * 1024

function declaredLength(response: HttpResponse): number {
  const declared = Number(response.header('content-length') ?? 0)
  return Number.isSafeInteger(declared) ? declared : 0
}
