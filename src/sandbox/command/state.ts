import { fileURLToPath } from 'node:url'
import { ReeveError, SandboxCommandError } from '../../errors.js'
import { isRecord, type PermissionProfile, parsePermissionProfile } from '../../permissions/index.js'
import { repeatedMember } from './repeated-member.js'

/** What a command is run under. */
export interface SandboxState {
  readonly profile: PermissionProfile
  /** Absolute; where the command starts, and what the special paths of the profile refer to. */
  readonly cwd: string
  /** `codexLinuxSandboxExe`: the helper of the host that wrote the state. */
  readonly helper?: string
}

const MAX_BYTES = 16 * 1024 * 1024

/**
 * Reads the value of `--sandbox-state-json` (reference: authority, 10). `permissionProfile` and `sandboxCwd` are required;
 * members that it does not know are ignored.
 *
 * @throws SandboxCommandError `invalid_sandbox_state`
 */
export function parseSandboxState(json: string, platform: NodeJS.Platform = process.platform): SandboxState {
  const state = membersOf(json)
  const cwd = uriOf(state)
  const helper = optional(state, 'codexLinuxSandboxExe', 'string')
  optional(state, 'useLegacyLandlock', 'boolean')
  optional(state, 'useMxc', 'boolean')
  const profile = profileOf(state)
  return Object.freeze({
    profile,
    cwd: nativePath(cwd, platform),
    ...(typeof helper === 'string' && { helper }),
  })
}

function membersOf(json: string): Readonly<Record<string, unknown>> {
  if (Buffer.byteLength(json) > MAX_BYTES) throw invalid(`longer than ${MAX_BYTES} bytes`)
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch (error) {
    throw invalid(`not JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
  const repeated = repeatedMember(json)
  if (repeated !== undefined) throw invalid(`duplicate field \`${repeated}\``, repeated)
  if (!isRecord(value)) throw invalid('expected an object')
  return value
}

function profileOf(state: Readonly<Record<string, unknown>>): PermissionProfile {
  if (!Object.hasOwn(state, 'permissionProfile')) throw invalid('missing field `permissionProfile`')
  try {
    return parsePermissionProfile(state.permissionProfile, 'permissionProfile')
  } catch (error) {
    if (!(error instanceof ReeveError)) throw error
    throw invalid(error.message, error.place)
  }
}

function uriOf(state: Readonly<Record<string, unknown>>): URL {
  if (!Object.hasOwn(state, 'sandboxCwd')) throw invalid('missing field `sandboxCwd`')
  const uri = state.sandboxCwd
  if (typeof uri !== 'string') throw invalid(`invalid type: ${typeName(uri)}, expected a string`, 'sandboxCwd')
  if (!URL.canParse(uri)) throw invalid('invalid URI: relative URL without a base', 'sandboxCwd')
  const url = new URL(uri)
  if (url.protocol !== 'file:') {
    throw invalid(`unsupported path URI scheme \`${url.protocol.slice(0, -1)}\``, 'sandboxCwd')
  }
  return url
}

function nativePath(uri: URL, platform: NodeJS.Platform): string {
  const foreign = uri.hostname !== '' || /^\/[A-Za-z]:(?:\/|$)/.test(uri.pathname)
  let path: string | undefined
  try {
    path = foreign ? undefined : fileURLToPath(uri, { windows: false })
  } catch {
    // An encoded separator or NUL: no path of this system.
  }
  if (path === undefined || path.includes('\0')) {
    throw new SandboxCommandError(
      'invalid_sandbox_state',
      `sandbox state cwd is not native to this host\n\nCaused by:\n    '${uri.href}' is invalid on '${platform}'`,
      { place: 'sandboxCwd' },
    )
  }
  return path
}

function optional(state: Readonly<Record<string, unknown>>, name: string, type: 'string' | 'boolean'): unknown {
  const value = Object.hasOwn(state, name) ? state[name] : undefined
  if (value === undefined || (value === null && type === 'string')) return undefined
  const known = type === 'string' ? 'a string' : 'a boolean'
  if (typeof value !== type) throw invalid(`invalid type: ${typeName(value)}, expected ${known}`, name)
  return value
}

function typeName(value: unknown): string {
  if (value === null) return 'null'
  if (typeof value === 'string') return `string ${JSON.stringify(value)}`
  if (typeof value === 'number') return Number.isInteger(value) ? `integer \`${value}\`` : `floating point \`${value}\``
  if (typeof value === 'boolean') return `boolean \`${value}\``
  return Array.isArray(value) ? 'sequence' : 'map'
}

function invalid(detail: string, place?: string): SandboxCommandError {
  return new SandboxCommandError(
    'invalid_sandbox_state',
    `invalid --sandbox-state-json value: ${detail}`,
    place === undefined ? {} : { place },
  )
}
