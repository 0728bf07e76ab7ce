import { FirstPartyAuthError } from '../../errors.js'
import { type HeaderField, isHeaderValue } from '../header-field.js'
import { bearerOf, type Credential } from '../sources/credential.js'
import type { Selection } from '../sources/environment-source.js'
import type { AssertionIssuer } from './issuer.js'
import type { RuntimeAuthMode } from './mode.js'
import type { AuthClient } from './plan.js'
import type { RuntimeInstance } from './registration.js'

/** The bearer, and the token's own account (reference: auth, 2.2). */
export function bearerHeaders(credential: Credential): readonly HeaderField[] {
  const token = bearerOf(credential)
  if (token === undefined || !isHeaderValue(token)) throw unavailable()
  return [...selectionHeaders(credential), ['authorization', `Bearer ${token}`], ...accountHeaders(credential)]
}

/** A runtime assertion, beside the bearer or in its place; the account is the registration's (reference: runtime-auth, 2.2). */
export function runtimeHeaders(
  mode: Exclude<RuntimeAuthMode, 'off'>,
  credential: Credential,
  instance: RuntimeInstance,
  issuer: AssertionIssuer,
  assertion: string,
): readonly HeaderField[] {
  const token = bearerOf(credential)
  if (mode === 'dual_header' && (token === undefined || !isHeaderValue(token))) throw unavailable()
  const { actor } = instance.registration
  const account = actor.kind === 'chatgpt' && actor.accountId !== '' ? actor.accountId : undefined
  if (account !== undefined && !isHeaderValue(account))
    throw new FirstPartyAuthError('account_header_invalid', 'invalid runtime account header')
  return [
    ...selectionHeaders(credential),
    ...assertionFields(mode, token, issuer, assertion),
    ...(account === undefined ? [] : [['chatgpt-account-id', account] as const]),
    ...fedrampHeaders(credential),
  ]
}

/** An assertion that the credential makes itself: beside its bearer where it has one and the mode wants it. */
export function ownAssertionHeaders(
  mode: RuntimeAuthMode,
  credential: Credential,
  issuer: AssertionIssuer,
  assertion: string,
): readonly HeaderField[] {
  if (assertion === '' || !isHeaderValue(assertion))
    throw new FirstPartyAuthError('assertion_failed', 'the assertion of the host is no header value')
  const token = mode === 'dual_header' ? bearerOf(credential) : undefined
  const form = token === undefined ? 'assertion_only' : 'dual_header'
  return [...assertionFields(form, token, issuer, assertion), ...accountHeaders(credential)]
}

/** An organisation that was asked for must be the registration's; a project need not (reference: runtime-auth, 2.2). */
export function checkSelection(client: AuthClient, { organization }: Selection, instance: RuntimeInstance): void {
  const { actor } = instance.registration
  if (client !== 'model' || organization === undefined || actor.kind !== 'platform') return
  if (actor.organizationId === organization) return
  throw new FirstPartyAuthError(
    'selection_mismatch',
    'unsupported operation: configured openai-organization does not match the registered runtime',
  )
}

function assertionFields(
  mode: Exclude<RuntimeAuthMode, 'off'>,
  token: string | undefined,
  issuer: AssertionIssuer,
  assertion: string,
): readonly HeaderField[] {
  if (mode === 'assertion_only') return [['authorization', `${issuer.scheme} ${assertion}`]]
  return [
    ['authorization', `Bearer ${token}`],
    [issuer.header, assertion],
  ]
}

function accountHeaders(credential: Credential): readonly HeaderField[] {
  const account = credential.kind === 'apiKey' ? undefined : credential.accountId
  // Values that can't be sent are passed over, as in the reference (auth, 2.2).
  const field = account === undefined || account === '' || !isHeaderValue(account) ? [] : [account]
  return [...field.map((id) => ['chatgpt-account-id', id] as const), ...fedrampHeaders(credential)]
}

function fedrampHeaders(credential: Credential): readonly HeaderField[] {
  return credential.kind !== 'apiKey' && credential.isFedramp === true ? [['x-openai-fedramp', 'true']] : []
}

function selectionHeaders(credential: Credential): readonly HeaderField[] {
  if (credential.kind !== 'apiKey') return []
  const fields = [
    ['openai-organization', credential.organization],
    ['openai-project', credential.project],
  ] as const
  return fields.flatMap(([name, value]) =>
    value !== undefined && isHeaderValue(value) ? [[name, value] as const] : [],
  )
}

function unavailable(): FirstPartyAuthError {
  return new FirstPartyAuthError('auth_unavailable', 'runtime actor credential is unavailable')
}
