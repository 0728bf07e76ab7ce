import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, randomUUID, sign } from 'node:crypto'

/** The only algorithm that we have keys for; every server that knows DPoP is expected to take it. */
export const DPOP_ALGORITHM = 'ES256'

/** What one proof is about. */
export interface DpopProof {
  readonly method: string
  readonly url: string
  /** The token that goes with it; absent at the token endpoint. */
  readonly token?: string | undefined
  /** What the server asked to have in it. */
  readonly nonce?: string | undefined
}

/** A key that one login's tokens are bound to. */
export function newDpopKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
}

/** Makes the proofs of one key. */
export type DpopSigner = (about: DpopProof) => string

/**
 * Proofs that whoever sends a token has the key that it is bound to: each for one request, once (RFC 9449, 4.2).
 *
 * @param pem the private key, PKCS #8; reading it takes longer than a proof
 */
export function dpopSigner(pem: string): DpopSigner {
  const key = createPrivateKey(pem)
  const { kty, crv, x, y } = createPublicKey(key).export({ format: 'jwk' })
  const header = encoded({ typ: 'dpop+jwt', alg: DPOP_ALGORITHM, jwk: { kty, crv, x, y } })
  return (about) => {
    const input = `${header}.${encoded(claimsOf(about))}`
    const signature = sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' })
    return `${input}.${signature.toString('base64url')}`
  }
}

function claimsOf({ method, url, token, nonce }: DpopProof) {
  const target = new URL(url)
  return {
    jti: randomUUID(),
    htm: method,
    htu: `${target.origin}${target.pathname}`,
    iat: Math.floor(Date.now() / 1000),
    ...(token !== undefined && { ath: createHash('sha256').update(token).digest('base64url') }),
    ...(nonce !== undefined && { nonce }),
  }
}

/** What one of our own proofs had in it. */
export function nonceOf(proof: string): string | undefined {
  const [, claims = ''] = proof.split('.')
  if (claims === '') return undefined
  const { nonce } = JSON.parse(Buffer.from(claims, 'base64url').toString('utf8'))
  return typeof nonce === 'string' ? nonce : undefined
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
