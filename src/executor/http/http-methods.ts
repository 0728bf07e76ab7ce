import type { Readable } from 'node:stream'
import { EXEC_EVENTS, EXEC_LIMITS, type ExecBodyDeltaEvent, encodeBytes } from '../../protocol/index.js'
import type { Caller } from '../connection.js'
import type { Answer, Method } from '../methods.js'
import type { Variables } from '../processes/env-policy.js'
import { internal } from '../wire/fault.js'
import { Params } from '../wire/params.js'
import { type Exchange, exchanges, failure } from './exchange.js'
import { type HttpPlan, httpPlan } from './http-plan.js'

/** Decoded bytes of a body that is answered whole: as base64 it must fit into one message. */
const MOST_BUFFERED = EXEC_LIMITS.message * 0.7

/** `http/request` (reference: executor-protocol, 7). */
export function httpMethods(variables: Variables): readonly (readonly [string, Method])[] {
  const exchange = exchanges(variables)
  return [
    [
      'http/request',
      {
        order: 'waits',
        run(params, caller) {
          const plan = httpPlan(new Params(params), variables)
          return plan.streamed ? streamed(exchange, plan, caller) : buffered(exchange, plan, caller.signal)
        },
      },
    ],
  ]
}

async function buffered(exchange: Exchange, plan: HttpPlan, gone: AbortSignal): Promise<Answer> {
  const { body, ...answer } = await exchange(plan, deadline(plan, gone))
  const parts: Buffer[] = []
  let bytes = 0
  try {
    for await (const part of body as AsyncIterable<Buffer>) {
      bytes += part.length
      if (bytes > MOST_BUFFERED) throw internal('the body is larger than a message may be: ask for a stream')
      parts.push(part)
    }
  } catch (error) {
    throw internal(`failed to read the body: ${failure(error)}`)
  }
  return { result: { ...answer, bodyBase64: encodeBytes(Buffer.concat(parts)) } }
}

/** Answers with the head; the body follows it in parts. */
async function streamed(exchange: Exchange, plan: HttpPlan, caller: Caller): Promise<Answer> {
  const { requestId } = plan
  caller.streams.take(requestId)
  try {
    const { body, ...answer } = await exchange(plan, deadline(plan, caller.signal))
    const afterwards = () => void passOn(body, requestId, caller)
    return { result: { ...answer, bodyBase64: '' }, afterwards }
  } catch (error) {
    caller.streams.release(requestId)
    throw error
  }
}

/** Ends with `done`, whatever happens, unless nobody is there any more. Waits for a client that does not keep up. */
async function passOn(body: Readable, requestId: string, caller: Caller): Promise<void> {
  let seq = 0
  const tell = (delta: Uint8Array, done: boolean, error: string | null) => {
    seq += 1
    const event: ExecBodyDeltaEvent = { requestId, seq, deltaBase64: encodeBytes(delta), done, error }
    if (!caller.signal.aborted) caller.notify(EXEC_EVENTS.bodyDelta, event)
  }
  let error: string | null = null
  try {
    for await (const part of body as AsyncIterable<Buffer>) {
      for (let at = 0; at < part.length; at += EXEC_LIMITS.httpDelta)
        tell(part.subarray(at, at + EXEC_LIMITS.httpDelta), false, null)
      await caller.caughtUp()
    }
  } catch (cause) {
    error = `failed to read the body: ${failure(cause)}`
  }
  caller.streams.release(requestId)
  tell(EMPTY, true, error)
}

/** The connection's end aborts the request upstream: there is no other way to cancel one. */
function deadline({ timeoutMs }: HttpPlan, gone: AbortSignal): AbortSignal {
  return timeoutMs === undefined ? gone : AbortSignal.any([gone, AbortSignal.timeout(Math.min(timeoutMs, LONGEST_MS))])
}

const EMPTY = new Uint8Array()
const LONGEST_MS = 2 ** 31 - 1
