import type { CallAuthority } from '../authority/index.js'
import type { CapturedServer, ReadyClient } from '../connections/index.js'
import type { JsonObject, JsonValue } from '../protocol/index.js'
import { callSandbox, type LauncherSource, withSandbox } from './call-sandbox.js'
import type { CallFiles } from './files/call-files.js'
import { IssuedCall } from './issued-call.js'
import { callArguments, callMeta } from './meta.js'
import type { CallOptions } from './types.js'

export interface IssuedPayload {
  readonly arguments?: JsonObject
  readonly _meta: JsonObject
}

/** @throws InvalidArgumentsError before anything is asked or sent */
export function payloadOf(
  place: string,
  args: JsonValue | undefined,
  meta: JsonObject | undefined,
  live: JsonObject,
): IssuedPayload {
  const checked = callArguments(place, args)
  return { ...(checked && { arguments: checked }), _meta: callMeta(place, meta, live) }
}

/** With the further params of the caller. */
type SentPayload = IssuedPayload & { readonly params?: JsonObject }

/** A call that nothing stands in the way of any more. */
export interface AllowedCall {
  readonly server: CapturedServer
  readonly tool: string
  readonly definition: JsonObject
  readonly authority: CallAuthority
  readonly payload: IssuedPayload
  /** Keeps what was allowed beyond the call (reference: authority, 4). */
  readonly remember: (() => void) | undefined
}

type Prepare<Sent> = (client: Pick<ReadyClient, 'capabilities'>) => Promise<Sent>

/** What a call is sent with. */
export interface Outgoing {
  readonly sent: SentPayload
  /** To be run in the lease of the call: files uploaded, and the policy that its server wants to know. Undefined: neither. */
  readonly prepare: Prepare<SentPayload> | undefined
  readonly options: Omit<CallOptions, 'params'>
}

/** What is sent for a call, as what it was issued with. */
export function outgoing(
  call: AllowedCall,
  { files, launchers }: { readonly files: CallFiles; readonly launchers: LauncherSource },
  { params, ...options }: CallOptions,
): Outgoing {
  const { authority, payload } = call
  const sent = { ...payload, ...(params && { params }) }
  const fill = files.of({ ...call, arguments: payload.arguments }, options)
  return {
    sent,
    prepare: inLease(sent, call, { fill, launchers, signal: options.signal }),
    options: { ...options, origin: new IssuedCall(authority, options.origin) },
  }
}

interface LeaseWork {
  /** Puts uploaded files into the arguments. */
  readonly fill: (() => Promise<JsonObject>) | undefined
  readonly launchers: LauncherSource
  readonly signal: AbortSignal | undefined
}

function inLease<Sent extends IssuedPayload>(
  sent: Sent,
  { server, authority, remember }: AllowedCall,
  { fill, launchers, signal }: LeaseWork,
): Prepare<Sent> | undefined {
  const sandbox = callSandbox(authority)
  if (remember === undefined && fill === undefined && sandbox === undefined) return undefined
  return async (client) => {
    remember?.()
    const filled = fill === undefined ? sent : { ...sent, arguments: await fill() }
    return withSandbox(filled, sandbox, client, server.config.transport.type, launchers, signal)
  }
}
