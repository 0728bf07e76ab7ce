import { basename } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { isServerName } from '../../identity/index.js'
import type { ServerConfig } from '../server.js'
import type { FileSettings } from '../settings.js'
import type { RawTable } from '../source/raw.js'
import { CLIENTS } from './clients.js'
import type { FoundServer } from './find.js'

/** What becomes of one found server. */
export type ImportOutcome =
  /** Written under `as`. */
  | 'import'
  /** Written under `as`, which is not its own name. */
  | 'rename'
  /** The same server is already there, or comes from an earlier client. */
  | 'duplicate'
  /** Another server has the name; this one is left out. */
  | 'conflict'
  /** It lies in a project, and project files were not asked for. */
  | 'project'
  /** Its entry is an error. */
  | 'broken'
  /** It is Reeve's own gateway, which would call itself. */
  | 'self'

export interface ImportDecision {
  readonly found: FoundServer
  readonly outcome: ImportOutcome
  /** The name in our file, for `import` and `rename`. */
  readonly as?: string
  /** One sentence: what wins, and why. */
  readonly reason: string
}

export interface ImportOptions {
  /** Give a server whose name is taken another one, instead of leaving it out. */
  readonly rename: boolean
  /** Take servers of project files too. */
  readonly project: boolean
}

/**
 * Decides what to import. What the user has already wins, then the earlier client in the list of clients, and within a
 * client its own precedence.
 */
export function planImport(
  found: readonly FoundServer[],
  existing: Pick<FileSettings, 'servers' | 'broken'>,
  options: ImportOptions,
): readonly ImportDecision[] {
  const taken = new Map<string, Holder>()
  for (const name of existing.broken) taken.set(name, { config: undefined, words: 'your file, where it is broken' })
  for (const { name, config, origin } of existing.servers) taken.set(name, { config, words: `your ${origin.file}` })
  return found.map((one) => decide(one, taken, options))
}

/** The entries to write, by name. */
export function entriesOf(plan: readonly ImportDecision[]): ReadonlyMap<string, RawTable> {
  return new Map(plan.flatMap(({ as, found }) => (as === undefined ? [] : [[as, found.entry] as const])))
}

/** Who has a name, in words. */
interface Holder {
  /** Undefined when it cannot be read. */
  readonly config: ServerConfig | undefined
  readonly words: string
}

function decide(found: FoundServer, taken: Map<string, Holder>, options: ImportOptions): ImportDecision {
  const { config } = found
  if (config === undefined) return { found, outcome: 'broken', reason: 'its entry cannot be read: see the problems' }
  if (isReeve(found.name, config)) return { found, outcome: 'self', reason: 'it is the gateway of reeve itself' }
  if (found.scope === 'project' && !options.project)
    return {
      found,
      outcome: 'project',
      reason: 'it lies in a project, where others may have written it: --project takes it',
    }
  const name = usableName(found.name)
  const holder = taken.get(name)
  if (holder === undefined) return take(found, config, name, taken)
  if (holder.config !== undefined && sameServer(holder.config, config))
    return { found, outcome: 'duplicate', reason: `the same server as in ${holder.words}` }
  if (!options.rename) {
    const reason = `another server has this name in ${holder.words}, which wins: --rename takes it as '${freeName(name, found, taken)}'`
    return { found, outcome: 'conflict', reason }
  }
  return take(found, config, freeName(name, found, taken), taken)
}

function take(found: FoundServer, config: ServerConfig, as: string, taken: Map<string, Holder>): ImportDecision {
  taken.set(as, { config, words: `${CLIENTS.get(found.client)} (${found.file})` })
  const inputs = found.inputs.length === 0 ? '' : `; set ${found.inputs.join(', ')} before it starts`
  if (as === found.name) return { found, outcome: 'import', as, reason: `from ${CLIENTS.get(found.client)}${inputs}` }
  const why = isServerName(found.name) ? 'its name is taken' : 'its name could not start'
  return { found, outcome: 'rename', as, reason: `${why}${inputs}` }
}

/** What runs and how it is reached; switches, filters and timeouts don't make another server. */
function sameServer(a: ServerConfig, b: ServerConfig): boolean {
  return a.environmentId === b.environmentId && isDeepStrictEqual(a.transport, b.transport)
}

function usableName(name: string): string {
  if (isServerName(name)) return name
  const usable = name.replace(/[^a-zA-Z0-9_:@/.-]+/g, '-').replace(/^-+|-+$/g, '')
  return usable === '' ? 'server' : usable
}

function freeName(name: string, found: FoundServer, taken: ReadonlyMap<string, Holder>): string {
  const base = `${name}-${found.client}`
  if (!taken.has(base)) return base
  for (let number = 2; ; number += 1) if (!taken.has(`${base}-${number}`)) return `${base}-${number}`
}

function isReeve(name: string, { transport }: ServerConfig): boolean {
  if (transport.type !== 'stdio') return name === 'reeve' && isLoopback(transport.url)
  const words = [transport.command, ...transport.args]
  const at = words.findIndex((word) => /^reeve(\.js|\.cmd|\.exe)?$/.test(basename(word)))
  return at !== -1 && words.includes('serve', at)
}

function isLoopback(url: string): boolean {
  return URL.canParse(url) && ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(url).hostname)
}
