import { StringDecoder } from 'node:string_decoder'
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { LimitExceededError } from '../../errors.js'
import { LIMITS } from '../../protocol/index.js'
import { isHeaderValue } from './header-fields.js'

export type StreamEvent = EventSourceMessage

/** Where a stream stands, for taking it up again. */
export interface StreamCursor {
  /** Events so far. */
  events: number
  lastEventId: string | undefined
  /** What the server asked for, within bounds. */
  retryMs: number | undefined
}

export function newCursor(): StreamCursor {
  return { events: 0, lastEventId: undefined, retryMs: undefined }
}

/** Bounds on the server's `retry:`. */
const RETRY = { least: 100, most: 5 * 60_000 } as const

/**
 * The events of one response body, in order; keeps `cursor` up to date. An event larger than `LIMITS.httpMessage` bytes
 * ends the stream with a `LimitExceededError`; the limit counts anew for each event. The body's own errors pass.
 */
export async function* readEvents(
  body: AsyncIterable<Buffer>,
  cursor: StreamCursor,
  place: string,
): AsyncGenerator<StreamEvent, void, void> {
  const ready: StreamEvent[] = []
  let tooLarge = false
  const parser = createParser({
    maxBufferSize: LIMITS.httpMessage,
    onEvent: (event) => {
      cursor.events += 1
      if (event.id !== undefined) cursor.lastEventId = isResumable(event.id) ? event.id : undefined
      if (exceeds(event.data, LIMITS.httpMessage)) tooLarge = true
      else ready.push(event)
    },
    onRetry: (ms) => {
      cursor.retryMs = Math.min(RETRY.most, Math.max(RETRY.least, ms))
    },
    onError: (error) => {
      if (error.type === 'max-buffer-size-exceeded') tooLarge = true
    },
  })
  const feed = function* (text: string) {
    parser.feed(text)
    yield* ready.splice(0)
    if (tooLarge) throw new LimitExceededError(`an event of ${place} in bytes`, LIMITS.httpMessage, { place })
  }
  const decoder = new StringDecoder('utf8')
  let first = true
  for await (const chunk of body) {
    let text = decoder.write(chunk)
    if (first && text !== '') {
      first = false
      if (text.startsWith('\ufeff')) text = text.slice(1)
    }
    yield* feed(text)
  }
  // Some servers end the stream right behind their last line; the blank line that closes the event never comes.
  yield* feed('\n\n')
}

function exceeds(text: string, bytes: number): boolean {
  return text.length > bytes || (text.length * 3 > bytes && Buffer.byteLength(text) > bytes)
}

/** An empty id takes the last one back; one that fits in no header can't be given back. */
function isResumable(id: string): boolean {
  return id !== '' && isHeaderValue(id)
}
