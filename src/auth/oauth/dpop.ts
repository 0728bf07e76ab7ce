import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, randomUUID, sign } from 'node:crypto'

/** The only algorithm that we have keys for; every server that knows DPoP is expected to take it. */
export const DPOP_ALGORITHM = 'ES256'

export interface DpopProof {
  /** Private, PKCS #8 in PEM. */
  readonly key: string
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

/** Proof that whoever sends a token has the key that it is bound to: for one request, once (RFC 9449, 4.2). */
export function dpopProof({ key: pem, method, url, token, nonce }: DpopProof): string {
  const key = createPrivateKey(pem)
  const { kty, crv, x, y } = createPublicKey(key).export({ format: 'jwk' })
  const target = new URL(url)
  const claims = {
    jti: randomUUID(),
    htm: method,
    htu: `${target.origin}${target.pathname}`,
    iat: Math.floor(Date.now() / 1000),
    ...(token !== undefined && { ath: createHash('sha256').update(token).digest('base64url') }),
    ...(nonce !== undefined && { nonce }),
  }
  const header = { typ: 'dpop+jwt', alg: DPOP_ALGORITHM, jwk: { kty, crv, x, y } }
  const input = `${encoded(header)}.${encoded(claims)}`
  const signature = sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' })
  return `${input}.${signature.toString('base64url')}`
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
