import type { EnvironmentEntry, EnvironmentSettings } from '../../config/index.js'
import {
  createHttpClient,
  type Environment,
  EnvironmentRegistry,
  EnvironmentTable,
  ExecutorEnvironment,
  LocalEnvironment,
} from '../../environments/index.js'
import { CancelledError, ReeveError } from '../../errors.js'
import type { ExecEnvironmentInfo } from '../../protocol/index.js'
import type { Cli } from '../cli.js'

/** What became of connecting to one environment. Times are milliseconds. */
export type ProbedEnvironment = {
  readonly id: string
  /** Undefined for the host. */
  readonly entry: EnvironmentEntry | undefined
} & (
  | {
      readonly ok: true
      readonly info: ExecEnvironmentInfo
      readonly connectMs: number
      /** The median of a few questions; undefined for the host. */
      readonly roundTripMs: number | undefined
    }
  | { readonly ok: false; readonly error: ReeveError }
)

const QUESTIONS = 7

/**
 * Connects to environments, all at once and each within its own time, asks what they are and how fast they answer, and
 * leaves nothing open. What they were told to run by is the command line's own variables.
 *
 * @throws CancelledError when the command line is interrupted
 */
export async function probeEnvironments(
  cli: Pick<Cli, 'home' | 'env' | 'signal'>,
  settings: EnvironmentSettings,
  ids: readonly string[],
): Promise<readonly ProbedEnvironment[]> {
  const host = new LocalEnvironment({ home: cli.home, http: createHttpClient({ env: cli.env }) })
  const table = new EnvironmentTable({ host, env: cli.env, cwd: cli.home })
  try {
    const registry = new EnvironmentRegistry(table, settings)
    const entryOf = (id: string) => settings.entries.find((entry) => entry.id === id)
    const probing = ids.map((id) => probe(id, entryOf(id), registry.get(id)?.environment))
    return (await Promise.race([Promise.all(probing), interruption(cli.signal)])).flatMap((one) => one ?? [])
  } finally {
    await table.close()
    await host.close()
  }
}

async function probe(
  id: string,
  entry: EnvironmentEntry | undefined,
  environment: Environment | undefined,
): Promise<ProbedEnvironment | undefined> {
  if (environment === undefined) return undefined
  const began = performance.now()
  try {
    const info = await environment.info()
    const connectMs = performance.now() - began
    const roundTripMs = environment instanceof ExecutorEnvironment ? await roundTrip(environment) : undefined
    return { id, entry, ok: true, info, connectMs, roundTripMs }
  } catch (error) {
    if (!(error instanceof ReeveError)) throw error
    return { id, entry, ok: false, error }
  }
}

async function roundTrip(environment: ExecutorEnvironment): Promise<number> {
  const times: number[] = []
  for (let asked = 0; asked < QUESTIONS; asked += 1) {
    const began = performance.now()
    await environment.status()
    times.push(performance.now() - began)
  }
  return times.sort((a, b) => a - b)[Math.floor(QUESTIONS / 2)] ?? 0
}

function interruption(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(new CancelledError())
    else signal.addEventListener('abort', () => reject(new CancelledError()), { once: true })
  })
}
