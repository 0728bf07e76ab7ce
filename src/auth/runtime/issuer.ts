import type { HeaderField } from '../header-field.js'
import type { Credential } from '../sources/credential.js'
import type { AssertionMoment } from './assertion.js'
import { type BackendPlaces, registrationUrl } from './backend.js'
import { type RuntimeRegistration, readRegistration } from './registration-reply.js'
import { registrationBody } from './registration-request.js'

export interface RegistrationFacts {
  readonly credential: Credential
  readonly installationId: string
  /** OpenSSH form, without a comment. */
  readonly publicKey: string
  /** A UUID v4, the same for every attempt with this key. */
  readonly idempotencyKey: string
}

/**
 * Everything of a runtime assertion that a deployment may have in its own way: names, claims and registration. What Reeve
 * does with it (one registration per credential, a new assertion per request, no redirects) is the same for all.
 */
export interface AssertionIssuer {
  /** The field beside a bearer; lower case. */
  readonly header: string
  /** The scheme of `Authorization` without one. */
  readonly scheme: string
  /** Throws `FirstPartyAuthError` for a base that registers nowhere. */
  registrationUrl(places: BackendPlaces): string
  /** Throws `FirstPartyAuthError` for a credential that can't register. */
  registration(facts: RegistrationFacts): { readonly headers: readonly HeaderField[]; readonly body: string }
  /** Throws `FirstPartyAuthError` `registration_failed` for a body that is no registration. */
  read(body: string): RuntimeRegistration
  /** The JWS payload, as JSON text. */
  payload(registration: RuntimeRegistration, moment: AssertionMoment): string
}

/** What the registration says of the program itself. */
export interface HarnessFacts {
  readonly harness: string
  readonly version: string
  readonly role: string
}

/** As the service expects it of its own client (reference: runtime-auth, 2.1). */
export const HARNESS: HarnessFacts = Object.freeze({ harness: 'codex', version: '0.171.0', role: 'orchestrator' })

/** The issuer of the first-party backend (reference: runtime-auth, 2 and 3). */
export function firstPartyIssuer(harness: HarnessFacts = HARNESS): AssertionIssuer {
  return Object.freeze({
    header: 'x-openai-agent-assertion',
    scheme: 'AgentAssertion',
    registrationUrl,
    registration: (facts: RegistrationFacts) => ({
      headers: [
        ['content-type', 'application/json'],
        ['idempotency-key', facts.idempotencyKey],
        ['accept', '*/*'],
      ] as const,
      body: registrationBody(facts, harness),
    }),
    read: readRegistration,
    payload: ({ instanceId }: RuntimeRegistration, { iat, id }: AssertionMoment) =>
      JSON.stringify({ version: 1, runtime_agent_instance: instanceId, iat, id }),
  })
}
