import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { JsonRpcMessage } from '../../protocol/index.js'
import type { ProtectedResource, ResourceServerOptions } from '../inbound-auth/index.js'
import { type Refusal, unauthorized } from './answers.js'
import type { Deadline } from './expiry.js'

/** Who sent a request. Sessions belong to one principal. */
export interface Principal {
  readonly id: string
}

/**
 * Who may use the gateway.
 * `bearer`: whoever sends the token. `none`: everybody who reaches the port; loopback only.
 * `oauth`: whoever brings a token of an authorization server, each subject a principal of its own.
 * `custom`: tells the principal from the `Authorization` header, or undefined to refuse. The id `owner` is the local user's,
 * with every login that they have: it is for nobody whose name somebody else chooses.
 */
export type Authentication =
  | { readonly kind: 'bearer'; readonly token: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'oauth'; readonly resource: ResourceServerOptions }
  | { readonly kind: 'custom'; readonly authenticate: Authenticator }

export type Authenticator = (
  authorization: string | undefined,
) => Principal | undefined | Promise<Principal | undefined>

/** A request that may come in. */
export interface Admission {
  readonly principal: Principal
  /** After which what it opened must end; absent: never. */
  readonly over?: Deadline
  /** Why it may not send these messages; absent: it may send any. */
  readonly refuses?: (messages: readonly JsonRpcMessage[]) => Refusal | undefined
}

export type Doorkeeper = (request: IncomingMessage) => Promise<Admission | Refusal>

const OWNER: Principal = Object.freeze({ id: 'owner' })

/** @param resource of `oauth`, whose tokens it checks */
export function doorkeeper(authentication: Authentication, resource: ProtectedResource | undefined): Doorkeeper {
  if (resource !== undefined) return (request) => resource.admit(request)
  const authenticate = authenticator(authentication)
  return async ({ headers: { authorization } }) => {
    const principal = await authenticate(authorization)
    return principal === undefined ? unauthorized(authorization !== undefined) : { principal }
  }
}

function authenticator(authentication: Authentication): Authenticator {
  if (authentication.kind === 'custom') return authentication.authenticate
  if (authentication.kind === 'none') return () => OWNER
  // Its tokens are checked by the resource alone.
  if (authentication.kind === 'oauth') return () => undefined
  const expected = digest(authentication.token)
  return (authorization) => {
    const presented = /^Bearer +(\S+) *$/i.exec(authorization ?? '')?.[1]
    return presented !== undefined && timingSafeEqual(digest(presented), expected) ? OWNER : undefined
  }
}

/** Equal lengths for the comparison, whatever was presented. */
function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
