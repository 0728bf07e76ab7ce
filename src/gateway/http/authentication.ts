import { createHash, timingSafeEqual } from 'node:crypto'

/** Who sent a request. Sessions belong to one principal. */
export interface Principal {
  readonly id: string
}

/**
 * Who may use the gateway.
 * `bearer`: whoever sends the token. `none`: everybody who reaches the port; loopback only.
 * `custom`: tells the principal from the `Authorization` header, or undefined to refuse.
 */
export type Authentication =
  | { readonly kind: 'bearer'; readonly token: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'custom'; readonly authenticate: Authenticator }

export type Authenticator = (
  authorization: string | undefined,
) => Principal | undefined | Promise<Principal | undefined>

const OWNER: Principal = Object.freeze({ id: 'owner' })

export function authenticator(authentication: Authentication): Authenticator {
  if (authentication.kind === 'custom') return authentication.authenticate
  if (authentication.kind === 'none') return () => OWNER
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
