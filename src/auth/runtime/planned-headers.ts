import { FirstPartyAuthError } from '../../errors.js'
import type { Clock } from '../clock.js'
import type { HeaderField } from '../header-field.js'
import type { SignedIn } from '../manager/snapshot.js'
import { type AgentTasks, agentAssertion } from '../sources/agent-identity.js'
import type { AssertedRequest, HostAssertionCredential } from '../sources/credential.js'
import { assertionMoment, mintAssertion } from './assertion.js'
import { bearerHeaders, ownAssertionHeaders, runtimeHeaders } from './auth-headers.js'
import type { AssertionIssuer } from './issuer.js'
import type { RuntimeAuthMode } from './mode.js'
import type { AuthPlan } from './plan.js'
import type { RuntimeInstance } from './registration.js'

export interface HeaderParts {
  readonly mode: RuntimeAuthMode
  readonly issuer: AssertionIssuer
  readonly agents: AgentTasks
  readonly clock: Clock
}

export interface Vouching {
  readonly snapshot: SignedIn
  readonly instance: RuntimeInstance | undefined
}

/** The headers of one attempt, as planned; an assertion in them is made here, and for it alone. */
export async function plannedHeaders(
  plan: AuthPlan,
  { mode, issuer, agents, clock }: HeaderParts,
  { snapshot: { credential }, instance }: Vouching,
  request: AssertedRequest,
): Promise<readonly HeaderField[]> {
  if (plan === 'bearer') return bearerHeaders(credential)
  if (plan === 'host_headers' && credential.kind === 'headers') return credential.headers
  if (plan === 'own_assertion' && credential.kind === 'agentIdentity') {
    const task = await agents.taskOf(credential)
    return ownAssertionHeaders(mode, credential, issuer, agentAssertion(credential, task, clock.wall()))
  }
  if (plan === 'own_assertion' && credential.kind === 'hostAssertion')
    return ownAssertionHeaders(mode, credential, issuer, await hostAssertion(credential, request))
  if (plan !== 'runtime' || instance === undefined || mode === 'off') return []
  const payload = issuer.payload(instance.registration, assertionMoment(clock.wall()))
  return runtimeHeaders(mode, credential, instance, issuer, mintAssertion(instance.key, payload))
}

async function hostAssertion({ assert }: HostAssertionCredential, { method, url }: AssertedRequest): Promise<string> {
  try {
    return await assert({ method, url })
  } catch {
    // The host's error may quote what it signs with.
    throw new FirstPartyAuthError('assertion_failed', 'the host made no assertion', { transient: true })
  }
}
