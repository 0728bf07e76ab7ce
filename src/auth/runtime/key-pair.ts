import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'

/** The key of one registration. The private half lives in memory alone and is never exported. */
export interface RuntimeKey {
  readonly privateKey: KeyObject
  /** `ssh-ed25519 …`, without a comment. */
  readonly publicKey: string
}

const SSH_TYPE = 'ssh-ed25519'
/** What stands before the 32 bytes of an Ed25519 seed in PKCS#8 DER. */
const SEED_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')

export function newRuntimeKey(): RuntimeKey {
  return runtimeKey(generateKeyPairSync('ed25519').privateKey)
}

/** @param seed 32 bytes. */
export function runtimeKeyFromSeed(seed: Uint8Array): RuntimeKey {
  return runtimeKey(createPrivateKey({ key: Buffer.concat([SEED_PREFIX, seed]), format: 'der', type: 'pkcs8' }))
}

function runtimeKey(privateKey: KeyObject): RuntimeKey {
  const { x } = createPublicKey(privateKey).export({ format: 'jwk' })
  const wire = Buffer.concat([sshString(Buffer.from(SSH_TYPE)), sshString(Buffer.from(x ?? '', 'base64url'))])
  return Object.freeze({ privateKey, publicKey: `${SSH_TYPE} ${wire.toString('base64')}` })
}

function sshString(bytes: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}
