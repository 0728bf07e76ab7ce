import { BrokerError } from '../../../errors.js'
import type { JsonObject, JsonValue } from '../../../protocol/index.js'
import { BROKER_LIMITS } from './limits.js'

/** What a client wants, once both sides have proved themselves. */
export type Hello = ControlHello | SessionHello

export interface ControlHello {
  readonly mode: 'control'
  /** `handover`: make room for a newer version. */
  readonly action: 'status' | 'stop' | 'handover'
}

export interface SessionHello {
  /** `mcp`: MCP frames, served as the gateway serves a client. `thread`: requests of a thread. */
  readonly mode: 'mcp' | 'thread'
  /** Absolute. */
  readonly cwd: string
  /** Absolute; empty for the user's and the project's configuration. */
  readonly configFiles: readonly string[]
  /** How often this session was carried on after a broker had ended. */
  readonly resumed: number
  /** Of the client's process, for people who look at the broker. */
  readonly pid: number
  /** Of an MCP client: ids of the environments that it wants, in order; empty: what the configuration selects. */
  readonly environments: readonly string[]
  /** Of an MCP client: name of the permission profile that servers are told; absent: as the configuration says. */
  readonly permissions?: string
  /** Stand in for one server, as if the client had reached it directly. */
  readonly transparent: boolean
  /** Which one, where several could be meant. */
  readonly only?: string
}

/** @throws BrokerError `broker_refused`, naming the member */
export function readHello(line: JsonObject): Hello {
  const { mode } = line
  if (mode === 'control') return { mode, action: readAction(line) }
  if (mode !== 'mcp' && mode !== 'thread') throw refused('mode')
  return {
    mode,
    cwd: text(line, 'cwd'),
    configFiles: texts(line, 'configFiles', BROKER_LIMITS.configFiles),
    resumed: count(line, 'resumed'),
    pid: count(line, 'pid'),
    environments: texts(line, 'environments', BROKER_LIMITS.environments),
    ...(line.permissions !== undefined && { permissions: text(line, 'permissions') }),
    transparent: line.transparent === true,
    ...(line.only !== undefined && { only: text(line, 'only') }),
  }
}

/** Names of variables that the broker asks for; undefined when the line asks for none. */
export function readNeed(line: JsonObject): readonly string[] | undefined {
  return line.need === undefined ? undefined : texts(line, 'need', BROKER_LIMITS.variables)
}

/** The values that a client gave; null says that the variable isn't set. */
export function readVariables({ env }: JsonObject): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const [name, value] of Object.entries(object(env, 'env'))) {
    if (value === null) continue
    if (typeof value !== 'string') throw refused(`env ${JSON.stringify(name.slice(0, 64))}`)
    found.set(name, value)
  }
  return found
}

function readAction({ action }: JsonObject): ControlHello['action'] {
  if (action === 'status' || action === 'stop' || action === 'handover') return action
  throw refused('action')
}

function object(value: JsonValue | undefined, member: string): JsonObject {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  throw refused(member)
}

function text(line: JsonObject, member: string): string {
  const value = line[member]
  if (typeof value === 'string') return value
  throw refused(member)
}

function texts(line: JsonObject, member: string, most: number): readonly string[] {
  const value = line[member]
  if (Array.isArray(value) && value.length <= most && value.every((item) => typeof item === 'string')) return value
  throw refused(member)
}

function count(line: JsonObject, member: string): number {
  const value = line[member]
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value < 1_000_000_000) return value
  throw refused(member)
}

function refused(member: string): BrokerError {
  const message = `'${member}' of what the other side said can't be used`
  return new BrokerError('broker_refused', message, { place: member })
}
