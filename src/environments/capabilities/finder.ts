import { setMaxListeners } from 'node:events'
import {
  CancelledError,
  ClosedError,
  EnvironmentError,
  InvalidArgumentsError,
  OperationTimeoutError,
  ReeveError,
  TransportClosedError,
} from '../../errors.js'
import { discoverExecutorConfig, type ExecutorConfigDiscovery } from './discover-executor-config.js'
import { discoverInstalled, type InstalledDiscovery } from './discover-installed.js'
import type { RootDiscovery } from './discover-root.js'
import { discoverRoots } from './discover-roots.js'
import { sightOf } from './sight.js'
import type {
  CapabilityRequest,
  CapabilityRoot,
  CapabilitySource,
  DiscoveryPlace,
  DiscoveryProblem,
  EnvironmentCapabilities,
} from './types.js'

/** Milliseconds for one environment, all of its questions together. */
const FIND_MS = 10_000

/**
 * Finds what the environments of one thread offer, and remembers what was read well until it is told to forget: edits of a
 * plugin count from the next reload on (reference: catalog, 9.2; known-quirks, 23).
 *
 * @example
 * ```ts
 * const finder = new CapabilityFinder()
 * const found = await finder.find({ places: [{ environment }], roots: [{ id: 'notes', environment: 'devbox', path: '/opt/notes' }] })
 * ```
 */
export class CapabilityFinder implements CapabilitySource {
  #memory = new Memory()

  async find(
    request: CapabilityRequest,
    { signal, timeoutMs = FIND_MS }: { readonly signal?: AbortSignal; readonly timeoutMs?: number } = {},
  ): Promise<readonly EnvironmentCapabilities[]> {
    if (signal?.aborted) throw new CancelledError()
    const memory = this.#memory
    return Promise.all(request.places.map((place) => lookInto(place, request, memory, timeoutMs, signal)))
  }

  forget(): void {
    // A look under way goes on writing into what nobody reads any more.
    this.#memory = new Memory()
  }
}

/** What was read without a fault. */
class Memory {
  readonly roots = new Map<string, RootDiscovery>()
  readonly installed = new Map<string, InstalledDiscovery>()
  readonly configs = new Map<string, ExecutorConfigDiscovery>()
}

/** What is known of one environment while it is looked into; also when the time is over. */
interface Findings {
  readonly roots: Map<CapabilityRoot, RootDiscovery>
  installed: InstalledDiscovery | undefined
  config: ExecutorConfigDiscovery | undefined
  readonly problems: DiscoveryProblem[]
}

async function lookInto(
  place: DiscoveryPlace,
  request: CapabilityRequest,
  memory: Memory,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<EnvironmentCapabilities> {
  const { id } = place.environment
  const roots = request.roots.filter(({ environment }) => environment === id)
  const findings: Findings = { roots: new Map(), installed: undefined, config: undefined, problems: [] }
  const asked = new AbortController()
  // Every question listens.
  setMaxListeners(0, asked.signal)
  const looking = look({ place, roots, request, memory, findings, signal: asked.signal })
  try {
    await bounded(looking, id, timeoutMs, signal)
  } catch (error) {
    findings.problems.push(problemOf(id, error))
  } finally {
    asked.abort()
  }
  return capabilities(id, roots, findings)
}

interface Looking {
  readonly place: DiscoveryPlace
  readonly roots: readonly CapabilityRoot[]
  readonly request: CapabilityRequest
  readonly memory: Memory
  readonly findings: Findings
  readonly signal: AbortSignal
}

/** Every question at the same time and for itself. */
async function look(looking: Looking): Promise<void> {
  const { environment } = looking.place
  const questions = [lookForRoots(looking), lookForInstalled(looking), lookForConfig(looking)]
  for (const ended of await Promise.allSettled(questions))
    if (ended.status === 'rejected' && !looking.signal.aborted)
      looking.findings.problems.push(problemOf(environment.id, ended.reason))
}

async function lookForRoots({ place, roots, request, memory, findings, signal }: Looking): Promise<void> {
  const key = (root: CapabilityRoot) => JSON.stringify([handleOf(place), root.id, root.path])
  const unread: CapabilityRoot[] = []
  for (const root of roots) {
    const known = memory.roots.get(key(root))
    if (known === undefined) unread.push(root)
    else findings.roots.set(root, known)
  }
  if (unread.length === 0) return
  await discoverRoots(place.environment, unread, {
    inOneRequest: request.features?.rootsInOneRequest ?? false,
    sight: await sightOf(place),
    signal,
    onread: (root, found) => {
      findings.roots.set(root, found)
      if (found.plugin !== undefined) memory.roots.set(key(root), found)
    },
    onproblem: (problem) => findings.problems.push(problem),
  })
}

async function lookForInstalled({ place, request, memory, findings, signal }: Looking): Promise<void> {
  if (!request.features?.installedPlugins) return
  const { environment, cwd } = place
  const isEnabled = (id: string) => request.policies?.get(id)?.enabled === true
  const enabled = [...(request.policies ?? [])].filter(([, policy]) => policy.enabled === true).map(([id]) => id)
  const key = JSON.stringify([handleOf(place), cwd ?? null, enabled.sort()])
  const found =
    memory.installed.get(key) ??
    (await discoverInstalled(environment, cwd, { isEnabled, sight: await sightOf(place), signal }))
  findings.installed = found
  const isWhole = found.plugins.every(({ plugin }) => plugin !== undefined) && !hasFailed(found.problems)
  if (isWhole) memory.installed.set(key, found)
}

async function lookForConfig({ place, request, memory, findings, signal }: Looking): Promise<void> {
  if (!request.features?.executorConfig) return
  const { environment, cwd } = place
  const key = JSON.stringify([handleOf(place), cwd ?? null])
  const found = memory.configs.get(key) ?? (await discoverExecutorConfig(environment, cwd, signal))
  findings.config = found
  if (!found.problems.some(({ code }) => code === 'broken_executor_config')) memory.configs.set(key, found)
}

function hasFailed(problems: readonly DiscoveryProblem[]): boolean {
  return problems.some(({ code }) => code === 'discovery_failed')
}

/** Two definitions of one id are two places, and so is one that another profile governs. */
function handleOf({ environment, handle, permissions, cwd, workspaceRoots }: DiscoveryPlace): readonly unknown[] {
  const governed = permissions === undefined ? [] : [{ permissions, cwd, workspaceRoots }]
  return handle === undefined ? [environment.id, ...governed] : [environment.id, handle, ...governed]
}

/** @throws CancelledError the caller gave up; OperationTimeoutError; what the work raises */
async function bounded(
  work: Promise<void>,
  environment: string,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  let onAbort = () => {}
  const ended = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new OperationTimeoutError(`environment '${environment}'`, timeoutMs)), timeoutMs)
    onAbort = () => reject(new CancelledError())
    signal?.addEventListener('abort', onAbort, { once: true })
  })
  try {
    await Promise.race([work, ended])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
}

/** @throws CancelledError the caller gave up; and defects */
function problemOf(environment: string, error: unknown): DiscoveryProblem {
  const isOfThePlace =
    error instanceof EnvironmentError ||
    error instanceof TransportClosedError ||
    error instanceof OperationTimeoutError ||
    error instanceof ClosedError
  if (isOfThePlace) {
    const message = `environment '${environment}' can't be looked into: ${error.message}`
    return Object.freeze({ code: 'environment_unavailable', environment, message })
  }
  if (error instanceof InvalidArgumentsError || (error instanceof ReeveError && !(error instanceof CancelledError)))
    return Object.freeze({ code: 'discovery_failed', environment, message: error.message })
  throw error
}

function capabilities(
  environment: string,
  roots: readonly CapabilityRoot[],
  { roots: found, installed, config, problems }: Findings,
): EnvironmentCapabilities {
  const read = [...roots.flatMap((root) => found.get(root) ?? []), ...(installed?.plugins ?? [])]
  const all = [
    ...read.flatMap((one) => one.problems),
    ...(installed?.problems ?? []),
    ...(config?.problems ?? []),
    ...problems,
  ]
  return Object.freeze({
    environment,
    plugins: Object.freeze(read.flatMap(({ plugin }) => plugin ?? [])),
    executorServers: config?.servers ?? new Map(),
    ...(config !== undefined && config.requirements.length > 0 && { executorRequirements: config.requirements }),
    problems: Object.freeze(distinct(all)),
  })
}

/** Each cause once. */
function distinct(problems: readonly DiscoveryProblem[]): readonly DiscoveryProblem[] {
  return [...new Map(problems.map((problem) => [JSON.stringify(problem), problem])).values()]
}
