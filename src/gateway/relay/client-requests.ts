import { randomUUID } from 'node:crypto'
import type { FromServer } from '../../connections/index.js'
import { CancelledError, RpcError } from '../../errors.js'
import { type JsonObject, type Peer, type RequestId, RPC } from '../../protocol/index.js'
import { uncovered } from '../bridge/index.js'

/** Requests that a person answers. */
const ASKS_A_PERSON: ReadonlySet<string> = new Set(['sampling/createMessage', 'elicitation/create', 'tasks/result'])

const PERSON_MS = 30 * 60_000
const PROGRAM_MS = 60_000

export interface ClientRequestsOptions {
  readonly peer: Peer
  /** As the client declared them. */
  readonly capabilities: JsonObject
  /** Resolves when the client may be sent requests. */
  readonly ready: Promise<void>
  /** Progress that the client reports on a server's request. */
  readonly onProgress: (request: FromServer, params: JsonObject) => void
}

/**
 * Hands a server's request to the client, on the stream of the client's request that caused it, and brings the answer
 * back as it is. Wall clock: both sides' own timers stand still while one waits for the other.
 *
 * @throws RpcError the client's own, -32601 for what it did not declare, -32603 when it does not answer in time.
 */
export async function askClient(
  request: FromServer,
  signal: AbortSignal,
  options: ClientRequestsOptions,
): Promise<JsonObject> {
  const { method, origin } = request
  const params = withElicitationId(method, request.params)
  const missing = uncovered(options.capabilities, method, params)
  if (missing !== undefined) {
    throw new RpcError(RPC.methodNotFound, `the client does not support ${method}`, { requiredCapabilities: missing })
  }
  return within(ASKS_A_PERSON.has(method) ? PERSON_MS : PROGRAM_MS, method, signal, async (bounded) => {
    await untilReady(options.ready, bounded)
    return options.peer.request(method, params, {
      signal: bounded,
      ...(isRequestId(origin) && { relatedTo: origin }),
      ...(wantsProgress(params) && { onProgress: (progress: JsonObject) => options.onProgress(request, progress) }),
    })
  })
}

/** A modern server gives pages to visit no id, and a legacy client wants one (changelog 2026-07-28, minor 11). */
function withElicitationId(method: string, params: JsonObject | undefined): JsonObject | undefined {
  const lacksId = method === 'elicitation/create' && params?.mode === 'url' && params.elicitationId === undefined
  return lacksId ? { ...params, elicitationId: randomUUID() } : params
}

export function isRequestId(origin: unknown): origin is RequestId {
  return typeof origin === 'string' || typeof origin === 'number'
}

function wantsProgress(params: JsonObject | undefined): boolean {
  const meta = params?._meta
  return typeof meta === 'object' && meta !== null && Object.hasOwn(meta, 'progressToken')
}

async function within(
  ms: number,
  method: string,
  signal: AbortSignal,
  ask: (bounded: AbortSignal) => Promise<JsonObject>,
): Promise<JsonObject> {
  const bound = new AbortController()
  let late = false
  const timer = setTimeout(() => {
    late = true
    bound.abort()
  }, ms)
  const onAbort = () => bound.abort()
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) bound.abort()
  try {
    return await ask(bound.signal)
  } catch (error) {
    if (late) throw new RpcError(RPC.internalError, `the client did not answer ${method} in time`)
    throw error
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  }
}

/** The signal is this wait's own: its listener goes with it. */
function untilReady(ready: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(new CancelledError('the client was not ready yet'))
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
    void ready.then(resolve)
  })
}
