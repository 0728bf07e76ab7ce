import type { CallAuthority } from '../authority/index.js'
import type { CapturedServer, ReadyClient } from '../connections/index.js'
import type { JsonObject, JsonValue } from '../protocol/index.js'
import type { CallApps, Entitlements } from './apps/call-apps.js'
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
type SentPayload = IssuedPayload & { readonly params?: JsonObject; readonly spentMs?: number }

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
  host: { readonly files: CallFiles; readonly apps: CallApps; readonly launchers: LauncherSource },
  { params, ...options }: CallOptions,
): Outgoing {
  const { authority, payload } = call
  const sent: SentPayload = { ...payload, ...(params && { params }) }
  const { files, apps, launchers } = host
  const made = { ...call, arguments: payload.arguments }
  const fill = files.of(made, options)
  const entitle = apps.entitlements(made, options)
  return {
    sent,
    prepare: inLease(sent, call, { fill, entitle, launchers, signal: options.signal }),
    options: { ...options, origin: new IssuedCall(authority, options.origin) },
  }
}

function entitled(sent: SentPayload, { member, value, spentMs }: Entitlements): SentPayload {
  return { ...sent, _meta: { ...sent._meta, [member]: value }, spentMs }
}

interface LeaseWork {
  /** Puts uploaded files into the arguments. */
  readonly fill: (() => Promise<JsonObject>) | undefined
  /** Asks for what the call is told of its account. */
  readonly entitle: (() => Promise<Entitlements>) | undefined
  readonly launchers: LauncherSource
  readonly signal: AbortSignal | undefined
}

function inLease(
  sent: SentPayload,
  { server, authority, remember }: AllowedCall,
  { fill, entitle, launchers, signal }: LeaseWork,
): Prepare<SentPayload> | undefined {
  const sandbox = callSandbox(authority)
  const isBare = remember === undefined && fill === undefined && entitle === undefined
  if (isBare && sandbox === undefined) return undefined
  return async (client) => {
    remember?.()
    const given = fill === undefined ? sent : { ...sent, arguments: await fill() }
    const filled = entitle === undefined ? given : entitled(given, await entitle())
    return withSandbox(filled, sandbox, client, server.config.transport.type, launchers, signal)
  }
}
