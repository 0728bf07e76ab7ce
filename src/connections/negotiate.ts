import { ProtocolViolationError } from '../errors.js'
import type { ServerKey } from '../identity/index.js'
import { type Era, type JsonObject, type JsonValue, LIMITS } from '../protocol/index.js'
import { deepFreeze } from './freeze.js'
import type { ClientProfile } from './types.js'

/** What the two sides agreed on. Values as the server sent them. */
export interface Handshake {
  readonly era: Era
  readonly protocolVersion: string
  readonly serverInfo: JsonObject
  readonly capabilities: JsonObject
  readonly instructions: string | undefined
  /** The other members of the answer that said it: `_meta`, and those that no revision knows. */
  readonly further: JsonObject
}

/** The revision that is offered, and all that are accepted in return. */
export const OFFERED_REVISION = '2025-11-25'
export const ACCEPTED_REVISIONS: readonly string[] = ['2024-11-05', '2025-03-26', '2025-06-18', OFFERED_REVISION]

/**
 * The handshake of the legacy era, as far as its answer. The caller sends `notifications/initialized` once the transport
 * knows the revision.
 *
 * @throws {ProtocolViolationError} for a revision that we don't speak, named, or an answer that is no handshake
 */
export async function negotiate(
  send: (method: string, params: JsonObject) => Promise<JsonObject>,
  key: ServerKey,
  profile: ClientProfile,
): Promise<Handshake> {
  const { capabilities: declared, clientInfo } = profile
  const hello = { ...profile.further, protocolVersion: OFFERED_REVISION, capabilities: declared, clientInfo }
  const { protocolVersion, serverInfo, capabilities, instructions, ...further } = await send('initialize', hello)
  if (typeof protocolVersion !== 'string' || !ACCEPTED_REVISIONS.includes(protocolVersion)) {
    throw new ProtocolViolationError(
      `the server speaks protocol version ${shown(protocolVersion)}, not one of ${ACCEPTED_REVISIONS.join(', ')}`,
      { key, place: 'initialize result protocolVersion' },
    )
  }
  return deepFreeze({
    era: 'legacy' as const,
    protocolVersion,
    // As the reference fills in what a server leaves out (connections, 5).
    serverInfo: isObject(serverInfo) ? serverInfo : { name: key.name, version: '' },
    capabilities: isObject(capabilities) ? capabilities : {},
    instructions: typeof instructions === 'string' ? instructions : undefined,
    further,
  })
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function shown(value: JsonValue | undefined): string {
  return (JSON.stringify(value) ?? 'undefined').slice(0, LIMITS.errorPreview / 64)
}
