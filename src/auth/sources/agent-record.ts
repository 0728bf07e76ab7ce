import { createPrivateKey, type KeyObject } from 'node:crypto'
import { CredentialStoreError } from '../../errors.js'
import { asRecord, payloadOf, text } from './claims.js'
import type { AgentIdentityCredential } from './credential.js'

/**
 * An older agent identity, stored as a record or as a JWT with the same claims; null when nothing is there. Its key is
 * parsed at once, so that a wrong one is named where it stands (reference: auth, 2.3).
 *
 * @throws CredentialStoreError `credentials_invalid`
 */
export function agentIdentityFrom(value: unknown, place: string): AgentIdentityCredential | null {
  if (value === undefined || value === null) return null
  const record = typeof value === 'string' ? payloadOf(value) : asRecord(value)
  const runtimeId = text(record?.agent_runtime_id)
  const privateKey = text(record?.agent_private_key)
  if (record === undefined || runtimeId === undefined || privateKey === undefined)
    throw new CredentialStoreError('credentials_invalid', 'the agent identity names no runtime id and key', { place })
  agentKey(privateKey, place)
  const accountId = text(record.account_id)
  const userId = text(record.chatgpt_user_id)
  return Object.freeze({
    kind: 'agentIdentity',
    runtimeId,
    privateKey,
    ...(accountId !== undefined && { accountId }),
    ...(userId !== undefined && { userId }),
    ...(record.chatgpt_account_is_fedramp === true && { isFedramp: true }),
  })
}

/** @throws CredentialStoreError when it is no Ed25519 key in PKCS#8 DER, base64. */
export function agentKey(privateKey: string, place: string): KeyObject {
  const refuse = (cause?: unknown) =>
    new CredentialStoreError('credentials_invalid', 'the agent identity holds no Ed25519 key', { place, cause })
  let key: KeyObject
  try {
    key = createPrivateKey({ key: Buffer.from(privateKey, 'base64'), format: 'der', type: 'pkcs8' })
  } catch {
    // What the parser says may quote the key.
    throw refuse()
  }
  if (key.asymmetricKeyType !== 'ed25519') throw refuse()
  return key
}
