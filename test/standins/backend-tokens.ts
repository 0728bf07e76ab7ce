import { createPublicKey, type KeyObject, verify } from 'node:crypto'

export interface AccountOf {
  readonly account: string
  readonly user: string
}

export interface TokenFacts extends AccountOf {
  /** Makes two tokens of one account differ. */
  readonly serial: number
  /** Seconds since 1970; absent: it does not say. */
  readonly exp?: number
  readonly fedramp?: boolean
}

/** An access token in the form of the service's: a JWT whose signature nobody here looks at. */
export function accessToken({ account, user, serial, exp, fedramp }: TokenFacts): string {
  const claims = {
    jti: `token-${serial}`,
    ...(exp !== undefined && { exp }),
    'https://api.openai.com/auth': {
      chatgpt_account_id: account,
      chatgpt_user_id: user,
      ...(fedramp && { chatgpt_account_is_fedramp: true }),
    },
  }
  return ['{"alg":"none"}', JSON.stringify(claims), `signature of ${serial}`]
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.')
}

/** A key in OpenSSH form. */
export function readSshKey(text: string): KeyObject {
  const [type, data = ''] = text.split(' ')
  const raw = Buffer.from(data, 'base64').subarray(-32)
  if (type !== 'ssh-ed25519' || raw.length !== 32) throw new Error('no ssh-ed25519 key')
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') }, format: 'jwk' })
}

export interface ReadAssertion {
  readonly instance: string
  readonly id: string
  readonly iat: number
  /** Whether this key signed it. */
  isSignedBy(key: KeyObject): boolean
}

/** Takes a runtime assertion apart; throws when it has not the form of one. */
export function readAssertion(value: string): ReadAssertion {
  const [version, header = '', payload = '', signature = '', more] = value.split('.')
  if (version !== '1' || more !== undefined) throw new Error('no assertion of version 1')
  const text = Buffer.from(header, 'base64url').toString()
  if (text !== '{"alg":"EdDSA","typ":"openai-agent-assertion+jws"}') throw new Error(`unknown header ${text}`)
  const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString())
  if (typeof claims !== 'object' || claims === null) throw new Error('no claims')
  const {
    runtime_agent_instance: instance,
    id,
    iat,
  } = Object.assign({ runtime_agent_instance: '', id: '', iat: 0 }, claims)
  return {
    instance,
    id,
    iat,
    isSignedBy: (key) => verify(null, Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, 'base64url')),
  }
}
