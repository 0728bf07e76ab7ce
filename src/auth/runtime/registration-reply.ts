import { FirstPartyAuthError } from '../../errors.js'
import { asRecord, text } from '../sources/claims.js'

/** For whom the service took the registration; not compared with the token (reference: runtime-auth, 2.2). */
export type RuntimeActor =
  | { readonly kind: 'chatgpt'; readonly userId: string; readonly accountId: string }
  | { readonly kind: 'platform'; readonly userId: string; readonly organizationId: string; readonly projectId?: string }

export interface RuntimeRegistration {
  readonly instanceId: string
  readonly hostId: string
  readonly actor: RuntimeActor
}

/** @throws FirstPartyAuthError `registration_failed` for anything that is not the whole of a registration. */
export function readRegistration(body: string): RuntimeRegistration {
  const reply = asRecord(parsed(body))
  const instanceId = text(reply?.runtime_agent_instance_id)
  const hostId = text(reply?.agent_host_id)
  const actor = actorOf(asRecord(reply?.actor))
  if (instanceId === undefined || hostId === undefined || actor === undefined) throw invalidReply()
  return Object.freeze({ instanceId, hostId, actor })
}

export function invalidReply(): FirstPartyAuthError {
  return new FirstPartyAuthError('registration_failed', 'invalid runtime registration response')
}

/** Ids of the actor may be empty, but not missing. */
function actorOf(actor: Readonly<Record<string, unknown>> | undefined): RuntimeActor | undefined {
  const userId = actor?.user_id
  if (actor === undefined || typeof userId !== 'string') return undefined
  if (actor.kind === 'chatgpt' && typeof actor.account_id === 'string')
    return Object.freeze({ kind: 'chatgpt', userId, accountId: actor.account_id })
  const { project_id: projectId, organization_id: organizationId } = actor
  if (actor.kind !== 'platform' || typeof organizationId !== 'string') return undefined
  if (projectId !== undefined && projectId !== null && typeof projectId !== 'string') return undefined
  return Object.freeze({
    kind: 'platform',
    userId,
    organizationId,
    ...(typeof projectId === 'string' && { projectId }),
  })
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
