import type { HttpResponse } from '../../environments/index.js'
import { LimitExceededError, ProtocolViolationError, TransportClosedError } from '../../errors.js'
import { abortError } from './abortion.js'
import type { AwaitedAnswer } from './awaited-answers.js'
import { BackOff } from './back-off.js'
import { newCursor, type StreamCursor } from './event-stream.js'
import { EVENTS_TYPE, mediaType } from './media-type.js'
import { type MessageSink, pumpMessages } from './message-stream.js'
import type { Performed } from './operations.js'
import { readable } from './post-answer.js'
import { isTransient } from './retries.js'
import { statusError } from './status-error.js'
import { sleep, type Timers } from './timers.js'

export interface AnswerStreamPorts {
  readonly awaited: AwaitedAnswer
  readonly sink: MessageSink
  /** Opens the stream again behind an event; absent where that can't be done. */
  readonly resume?: (lastEventId: string) => Promise<Performed>
  /** Takes over a stream whose answer came but that is still open. */
  readonly linger: (response: HttpResponse, rest: Promise<void>) => void
  readonly timers: Timers
  readonly signal: AbortSignal
}

const BACK_OFF = { firstMs: 500, capMs: 30_000 } as const
/** Attempts in a row that bring nothing, before the answer counts as lost. */
const FRUITLESS_ATTEMPTS = 6
/** A stream that stayed open this long was not fruitless: the server had nothing to say yet. */
const LONG_POLL = 5000

/**
 * Reads the response stream of one request until its answer was handed over. A stream that ends before is taken up
 * again by its last event id if it gave one; else the request fails at once with `TransportClosedError` (`sent: true`),
 * since the server may have carried it out. `LimitExceededError` and `ProtocolViolationError` concern this request
 * alone.
 */
export async function followAnswer(first: Performed, ports: AnswerStreamPorts): Promise<void> {
  const { awaited, timers, signal, resume } = ports
  const cursor = newCursor()
  const backOff = new BackOff(BACK_OFF.firstMs, BACK_OFF.capMs, timers)
  let cause: unknown
  let stream: Performed | undefined = first
  for (;;) {
    const before = { events: cursor.events, at: timers.now() }
    if (stream !== undefined) cause = await readUntilAnswer(stream, cursor, ports)
    if (awaited.came) return
    if (cursor.events > before.events || timers.now() - before.at >= LONG_POLL) backOff.reset()
    const { lastEventId } = cursor
    const givenUp = backOff.attempts >= FRUITLESS_ATTEMPTS
    if (resume === undefined || lastEventId === undefined || givenUp) throw lost(first.place, cause)
    await sleep(timers, backOff.next(cursor.retryMs), signal)
    if (signal.aborted) throw abortError(signal)
    if (awaited.came) return
    const resumed: Resumed = await takeUp(() => resume(lastEventId), first.place, ports)
    stream = resumed.stream
    cause = resumed.error ?? cause
  }
}

/** Resolves with what cut the stream, if anything did. */
async function readUntilAnswer(
  performed: Performed,
  cursor: StreamCursor,
  { awaited, sink, linger, signal }: AnswerStreamPorts,
): Promise<unknown> {
  const { response, place } = performed
  const reading = pumpMessages(readable(performed).body, cursor, place, sink)
  try {
    await Promise.race([reading, awaited.arrival])
  } catch (error) {
    if (awaited.came) return undefined
    if (signal.aborted) throw abortError(signal)
    if (error instanceof LimitExceededError || error instanceof ProtocolViolationError) throw error
    return error
  }
  if (awaited.came) linger(response, reading)
  return undefined
}

interface Resumed {
  readonly stream?: Performed
  /** Worth another attempt. */
  readonly error?: unknown
}

async function takeUp(resume: () => Promise<Performed>, place: string, ports: AnswerStreamPorts): Promise<Resumed> {
  const { timers, signal } = ports
  let performed: Performed
  try {
    performed = await resume()
  } catch (error) {
    if (signal.aborted) throw abortError(signal)
    if (error instanceof TransportClosedError) return { error }
    throw lost(place, error)
  }
  const { response } = performed
  if (response.status === 200 && mediaType(response.header('content-type')) === EVENTS_TYPE) {
    return { stream: performed }
  }
  const error = await statusError(performed, timers, signal)
  // Whatever the server says now (no such session, not allowed), the first request may have been carried out.
  if (isTransient(response.status) || response.status === 409) return { error }
  throw lost(place, error)
}

function lost(place: string, cause: unknown): TransportClosedError {
  const why = cause instanceof Error ? `: ${cause.message}` : ''
  return new TransportClosedError(`the response stream of ${place} ended before the answer${why}`, {
    sent: true,
    place,
    cause,
    data: { sent: true, reason: 'stream_ended' },
  })
}
