import { isAbsolute } from 'node:path'
import { SandboxRefusedError } from '../../errors.js'
import type { CallerSandbox, RequestTransport } from './caller-sandbox.js'
import { inexactness } from './exact-json.js'
import { SANDBOX_LAUNCHER, SANDBOX_STATE, SANDBOX_STATE_ALIAS } from './names.js'
import { RepeatedMemberError, rawMember } from './raw-member.js'

/**
 * Reads state and launcher from a whole request as it was received: one line of stdio, one body of HTTP. The state keeps
 * every byte. Prefer it to {@link readSandboxMeta} where the text can be had.
 *
 * @param request JSON text of a JSON-RPC request
 * @throws SandboxRefusedError `malformed_state`, `malformed_launcher`, `conflicting_states`, `inexact_state`
 */
export function readSandboxRequest(request: string, transport: RequestTransport): CallerSandbox {
  parsed(request, 'the request')
  try {
    const member = (name: string) => rawMember(request, ['params', '_meta', name])
    const launcher = member(SANDBOX_LAUNCHER)
    return callerSandbox(
      [member(SANDBOX_STATE), member(SANDBOX_STATE_ALIAS)],
      launcher === undefined ? undefined : parsed(launcher, SANDBOX_LAUNCHER),
      transport,
    )
  } catch (error) {
    if (!(error instanceof RepeatedMemberError)) throw error
    throw new SandboxRefusedError('malformed_state', `${error.message} in the request`, { place: 'params._meta' })
  }
}

/**
 * The same from a `_meta` that a library has parsed. The state is written as compact JSON: the same value, in the order of
 * its members. What parsing may have changed is refused.
 *
 * @param meta `params._meta` of a `tools/call`; undefined: there was none
 * @throws SandboxRefusedError as {@link readSandboxRequest}
 */
export function readSandboxMeta(meta: unknown, transport: RequestTransport): CallerSandbox {
  if (meta === undefined) return callerSandbox([undefined, undefined], undefined, transport)
  if (!isObject(meta))
    throw new SandboxRefusedError('malformed_state', '_meta must be an object', { place: 'params._meta' })
  const member = (name: string) => (Object.hasOwn(meta, name) ? meta[name] : undefined)
  return callerSandbox(
    [writtenState(member(SANDBOX_STATE)), writtenState(member(SANDBOX_STATE_ALIAS))],
    member(SANDBOX_LAUNCHER),
    transport,
  )
}

type Texts = readonly [state: string | undefined, alias: string | undefined]

function callerSandbox([state, alias]: Texts, launcher: unknown, transport: RequestTransport): CallerSandbox {
  if (state !== undefined && alias !== undefined && state !== alias)
    throw new SandboxRefusedError('conflicting_states', `${SANDBOX_STATE} and ${SANDBOX_STATE_ALIAS} differ`, {
      place: 'params._meta',
    })
  const text = state ?? alias
  if (text !== undefined) requireState(text)
  const executable = transport === 'stdio' ? executables(launcher) : NO_LAUNCHER
  return Object.freeze({ state: text ?? null, ...executable })
}

const NO_LAUNCHER = Object.freeze({ codexExecutable: null, reeveExecutable: null })
const LONE_SURROGATE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/

/** An object, and no more: what it says is for the launcher to read. */
function requireState(text: string): void {
  if (!text.startsWith('{')) throw malformedState('must be an object')
  if (LONE_SURROGATE.test(text))
    throw new SandboxRefusedError('inexact_state', `${SANDBOX_STATE} is no UTF-8 text`, { place: 'params._meta' })
}

function writtenState(value: unknown): string | undefined {
  if (value === undefined) return undefined
  const doubt = inexactness(value)
  if (doubt !== undefined)
    throw new SandboxRefusedError('inexact_state', `${SANDBOX_STATE}: ${doubt}: read it from the text of the request`, {
      place: 'params._meta',
    })
  try {
    return JSON.stringify(value)
  } catch (cause) {
    throw malformedState('is nested too deep', cause)
  }
}

function executables(launcher: unknown): Pick<CallerSandbox, 'codexExecutable' | 'reeveExecutable'> {
  if (launcher === undefined) return NO_LAUNCHER
  if (!isObject(launcher)) throw malformedLauncher('must be an object')
  return {
    codexExecutable: executable(launcher, 'codexExecutable'),
    reeveExecutable: executable(launcher, 'reeveExecutable'),
  }
}

/** A path that doesn't fit is refused rather than left out: another program in its place is not what was sent. */
function executable(launcher: Members, member: string): string | null {
  const path = Object.hasOwn(launcher, member) ? launcher[member] : undefined
  if (path === undefined || path === null) return null
  if (typeof path !== 'string' || !isAbsolute(path) || path.includes('\0') || LONE_SURROGATE.test(path))
    throw malformedLauncher(`${member} must be an absolute path`)
  return path
}

type Members = Readonly<Record<string, unknown>>

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function parsed(text: string, what: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw malformedState(`${what} is no JSON`, cause)
  }
}

function malformedState(fault: string, cause?: unknown): SandboxRefusedError {
  return new SandboxRefusedError('malformed_state', `${SANDBOX_STATE}: ${fault}`, { place: 'params._meta', cause })
}

function malformedLauncher(fault: string): SandboxRefusedError {
  return new SandboxRefusedError('malformed_launcher', `${SANDBOX_LAUNCHER}: ${fault}`, { place: 'params._meta' })
}
