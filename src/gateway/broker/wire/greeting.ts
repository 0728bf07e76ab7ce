import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { JsonObject } from '../../../protocol/index.js'

/**
 * The broker's own protocol. Lines of JSON, in this order; the first three and `control` never change, so that every
 * version can tell every other what it is and ask it to make room:
 *
 *     client  {"reeve": version, "protocol": n, "nonce": c}
 *     broker  {"reeve": version, "protocol": n, "nonce": b, "proof": hmac(key, "broker c b")}
 *     client  {"proof": hmac(key, "client c b")}
 *     client  {"mode": "control", "action"} or {"mode": "mcp" | "thread", "cwd", "configFiles", "env", …}
 *     broker  {"need": [names]}                                 variables that the configuration names, if there are any
 *     client  {"env": {name: value | null}}
 *     broker  {"welcome": {…}} or {"error": {"code", "message", …}}
 *
 * Then come MCP frames (`mcp`), or JSON-RPC requests of a thread (`thread`). The client says nothing of itself before
 * the broker has proved that it can read the key's file, and the broker does nothing for a client that can't.
 */
export const BROKER_PROTOCOL = 3

/** What each side says first. */
export interface Opening {
  readonly reeve: string
  readonly protocol: number
  readonly nonce: string
}

export function newNonce(): string {
  return randomBytes(16).toString('hex')
}

/** Undefined when it is none. */
export function readOpening({ reeve, protocol, nonce }: JsonObject): Opening | undefined {
  if (typeof reeve !== 'string' || reeve.length > 64) return undefined
  if (typeof protocol !== 'number' || !Number.isSafeInteger(protocol)) return undefined
  return typeof nonce === 'string' && /^[0-9a-f]{32}$/.test(nonce) ? { reeve, protocol, nonce } : undefined
}

/** Shows that its maker knows the key, for this pair of openings only. */
export function proofOf(side: 'broker' | 'client', key: string, client: Opening, broker: Opening): string {
  return createHmac('sha256', key).update(`${side} ${client.nonce} ${broker.nonce}`).digest('hex')
}

export function isProof(given: unknown, expected: string): boolean {
  if (typeof given !== 'string') return false
  const [a, b] = [Buffer.from(given), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/**
 * Whether version `a` came after `b`, by the numbers of `x.y.z`; with equal numbers a release comes after its
 * pre-releases, and pre-releases are compared as text. What is no version is older than all.
 */
export function isNewer(a: string, b: string): boolean {
  const [left, right] = [versionParts(a), versionParts(b)]
  for (const [index, number] of left.numbers.entries()) {
    const other = right.numbers[index] ?? 0
    if (number !== other) return number > other
  }
  if (left.pre === right.pre) return false
  return left.pre === '' || (right.pre !== '' && left.pre > right.pre)
}

function versionParts(version: string): { readonly numbers: readonly number[]; readonly pre: string } {
  const [, x, y, z, pre = ''] = /^(\d+)\.(\d+)\.(\d+)(?:-([^+]*))?/.exec(version) ?? []
  if (x === undefined) return { numbers: [-1, 0, 0], pre: '' }
  return { numbers: [Number(x), Number(y), Number(z)], pre }
}
