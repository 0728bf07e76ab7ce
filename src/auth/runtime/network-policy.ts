import { FirstPartyAuthError } from '../../errors.js'
import type { AccountIdentity } from '../sources/credential.js'

/** What an account may reach; opaque, and fixed when a connection is opened (reference: auth, 3, "AccountPolicy"). */
export interface NetworkPolicy {
  /** Why this URL must not be reached; undefined: it may. Never a secret. */
  refusal(url: URL): string | undefined
  readonly revoked: AbortSignal
}

/** The policy of an account; undefined when there is none to be had, and then nothing is sent. */
export type NetworkPolicies = (identity: AccountIdentity) => NetworkPolicy | undefined

const OPEN: NetworkPolicy = Object.freeze({ refusal: () => undefined, revoked: new AbortController().signal })

/** Every account may reach what it is eligible for. */
export const openNetwork: NetworkPolicies = () => OPEN

export function policyUnavailable(): FirstPartyAuthError {
  return new FirstPartyAuthError('network_policy_unavailable', 'application network policy is unavailable')
}

export function permissionRevoked(): FirstPartyAuthError {
  return new FirstPartyAuthError('auth_revoked', 'application network permission was revoked')
}

export function urlRefused(url: URL, reason: string): FirstPartyAuthError {
  return new FirstPartyAuthError('auth_revoked', `the account's network policy refuses ${url.origin}: ${reason}`, {
    place: url.origin,
  })
}
