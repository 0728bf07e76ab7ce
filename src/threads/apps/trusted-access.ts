import { authIdentity } from '../../auth/index.js'
import type { CapturedServer } from '../../connections/index.js'
import { LOCAL_ENVIRONMENT } from '../../identity/index.js'
import type { JsonObject, JsonValue } from '../../protocol/index.js'
import type { OwningAuth } from '../owning-auth.js'
import { member } from './connector.js'
import { backendBase } from './hosted-url.js'
import type { OwningThread } from './owning-thread.js'

/** What a call is told of the entitlements of the account; only the runtime may say it. */
export const ENTITLEMENT_CONTEXT = 'openai/entitlementContext'

const REQUESTED = 'openai/requestedEntitlements'
const CYBER = 'cyber_trusted_access'
/** Milliseconds for all of it. */
export const LOOKUP_MS = 2_500
const LEVELS: ReadonlySet<string> = new Set(['tac1', 'tac2', 'tac3', 'government'])
const SOURCES: ReadonlySet<string> = new Set(['user', 'current_account'])

/** Whether a call is one that is told (reference: auth, 5.4). */
export function wantsTrustedAccess(
  { config, source }: Pick<CapturedServer, 'config' | 'source'>,
  definition: JsonObject,
  args: JsonObject | undefined,
): boolean {
  const requested = member(definition._meta, REQUESTED)
  return (
    Array.isArray(requested) &&
    requested.every((one) => typeof one === 'string') &&
    requested.includes(CYBER) &&
    'plugin' in source &&
    (args === undefined || Object.keys(args).length === 0) &&
    config.environmentId === LOCAL_ENVIRONMENT &&
    config.transport.type === 'stdio' &&
    member(definition.annotations, 'readOnlyHint') === true
  )
}

/** Whether the thread's account is one that may have such access. */
export function mayHaveTrustedAccess({ context: { manager } }: OwningAuth): boolean {
  const now = manager.current()
  if (now.state !== 'signed_in') return false
  const { kind } = now.credential
  return kind === 'chatgpt' || kind === 'chatgptAuthTokens'
}

/**
 * The account's trusted access, as the backend has it now. Whatever goes wrong, and whatever is not exactly as it should be, is
 * `unknown`, without grants.
 */
export async function trustedAccess(owner: OwningThread, signal?: AbortSignal): Promise<JsonObject> {
  const found = await verified(owner, signal).catch(() => UNKNOWN)
  return {
    schemaVersion: 1,
    entitlements: { [CYBER]: { schemaVersion: 1, status: found.status, grants: [...found.grants], stale: false } },
  }
}

interface Access {
  readonly status: 'granted' | 'not_granted' | 'unknown'
  readonly grants: readonly JsonObject[]
}

const UNKNOWN: Access = Object.freeze({ status: 'unknown', grants: Object.freeze([]) })

async function verified({ auth, runtimeContext }: OwningThread, signal: AbortSignal | undefined): Promise<Access> {
  const bound = AbortSignal.timeout(LOOKUP_MS)
  const before = accountText(auth)
  const { status, body } = await auth.clientFor().send({
    layout: 'accounts_check',
    method: 'GET',
    url: `${backendBase(runtimeContext.baseUrl)}/accounts/verified_access`,
    redirects: 'stop',
    as: authIdentity(auth.context.mode, auth.context.manager.current()),
    headers: { 'user-agent': runtimeContext.userAgent, accept: '*/*' },
    signal: signal === undefined ? bound : AbortSignal.any([signal, bound]),
  })
  if (status !== 200 || before === undefined || accountText(auth) !== before) return UNKNOWN
  return accessOf(JSON.parse(body))
}

/** Account, user, workspace, and whether it is a FedRAMP one. */
function accountText({ context: { manager } }: OwningAuth): string | undefined {
  const now = manager.current()
  if (now.state !== 'signed_in' || now.credential.kind === 'apiKey') return undefined
  const { accountId, userId, isWorkspace } = now.identity
  return JSON.stringify([accountId, userId, isWorkspace, now.credential.isFedramp ?? false])
}

function accessOf(reply: JsonValue): Access {
  const programs = member(reply, 'programs')
  const cyber = Array.isArray(programs) ? programs.filter((one) => programName(one) === 'cyber') : []
  if (cyber.length !== 1) return UNKNOWN
  const status = member(cyber[0], 'status')
  const grants = grantsOf(member(cyber[0], 'grants'))
  if (grants === undefined) return UNKNOWN
  if (status === 'active' && grants.length > 0) return { status: 'granted', grants }
  return status === 'inactive' && grants.length === 0 ? { status: 'not_granted', grants } : UNKNOWN
}

function programName(program: JsonValue): JsonValue | undefined {
  return member(program, 'program') ?? member(program, 'name') ?? member(program, 'id')
}

/** Undefined where any of them is none. */
function grantsOf(value: JsonValue | undefined): readonly JsonObject[] | undefined {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) return undefined
  const grants = value.flatMap((one): JsonObject[] => {
    const [level, source] = [member(one, 'level'), member(one, 'source')]
    const isGrant = typeof level === 'string' && LEVELS.has(level) && typeof source === 'string' && SOURCES.has(source)
    return isGrant ? [{ level, source }] : []
  })
  return grants.length === value.length ? grants : undefined
}
