import {
  type EnvironmentConnection,
  type EnvironmentSettings,
  environmentIdFault,
  environmentUrlFault,
  HOST_ALONE,
} from '../../config/index.js'
import { ClosedError, ConfigError, UnknownEnvironmentError } from '../../errors.js'
import { LOCAL_ENVIRONMENT } from '../../identity/index.js'
import type { EnvironmentState } from '../environment.js'
import { type EnvironmentInfoAnswer, type EnvironmentStatusAnswer, infoAnswer, statusAnswer } from './answers.js'
import { definitionHandle, type EnvironmentDefinition } from './definition.js'
import type { EnvironmentTable, HeldEnvironment } from './table.js'
import type { Environments, PlacedEnvironment } from './types.js'

/** What `add` may say beside how the environment is reached. */
export interface AddedEnvironmentOptions {
  /** Milliseconds for the handshake; absent = 10,000. */
  readonly initializeTimeoutMs?: number
  /** Working directory of a thread that selects it without naming one. Absolute, in the environment's own form. */
  readonly cwd?: string
}

interface Wanted extends EnvironmentDefinition {
  readonly cwd?: string
}

interface Placed {
  readonly held: HeldEnvironment
  readonly placed: PlacedEnvironment
  readonly unlisten: () => void
}

/**
 * The environments of one runtime: the host under `local`, those of its configuration, and those added by its program,
 * which win over the configuration until the runtime ends (reference: catalog, 8.1). Looking something up connects
 * nothing: that is for `warm` and for the first use.
 *
 * `include_local = false` takes `local` out of the default selection alone: servers of the host's own configuration
 * still run there.
 *
 * @example
 * ```ts
 * await using registry = new EnvironmentRegistry(table, config.environments)
 * registry.add('devbox', { kind: 'url', url: 'ws://127.0.0.1:4100' })
 * registry.warm(['devbox'])
 * ```
 */
export class EnvironmentRegistry implements Environments, AsyncDisposable {
  readonly #table: EnvironmentTable
  readonly #host: PlacedEnvironment
  readonly #listeners = new Set<(id: string, state: EnvironmentState) => void>()
  readonly #added = new Map<string, Wanted>()
  readonly #releasing = new Set<Promise<void>>()
  #settings: EnvironmentSettings
  #placed: ReadonlyMap<string, Placed> = new Map()
  #cwds: ReadonlyMap<string, string> = new Map()
  #closed: Promise<void> | undefined

  constructor(table: EnvironmentTable, settings: EnvironmentSettings = HOST_ALONE) {
    this.#table = table
    this.#host = Object.freeze({ environment: table.host })
    this.#settings = settings
    this.#place()
  }

  get ids(): readonly string[] {
    return [LOCAL_ENVIRONMENT, ...this.#placed.keys()]
  }

  get(id: string): PlacedEnvironment | undefined {
    return id === LOCAL_ENVIRONMENT ? this.#host : this.#placed.get(id)?.placed
  }

  /** Whether threads may select the host; its servers run there in any case. */
  get includesLocal(): boolean {
    return this.#settings.includeLocal
  }

  /** What a thread gets that selects nothing: as the configuration says, without those added since. */
  get defaultSelection(): readonly string[] {
    return this.#settings.defaultSelection
  }

  /** Working directory of a thread that selects this environment without naming one. */
  cwdOf(id: string): string | undefined {
    return this.#cwds.get(id)
  }

  /** Tells every later state of any of them: added ones too, and `closed` for one that is taken away. */
  onstate(listener: (id: string, state: EnvironmentState) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Adds an environment, or puts it in the place of the one of that id, which is closed unless another runtime uses it.
   * Does not connect. The rules are those of the file (reference: known-quirks, 43).
   *
   * @throws ConfigError `empty`, `padded_id`, `reserved_id`, `id_too_long`, `id_charset`, `disabled_url`, `url_scheme`,
   * `url_invalid`, `url_credentials`, `insecure_token`; ClosedError
   */
  add(id: string, connection: EnvironmentConnection, options: AddedEnvironmentOptions = {}): void {
    if (this.#closed !== undefined) throw new ClosedError('the environment registry')
    refuseId(id)
    this.#added.set(id, { id, connection: checked(id, connection), ...options })
    this.#place()
  }

  /** What is known of it now, without connecting (reference: surfaces, `environment/status`). */
  status(id: string): EnvironmentStatusAnswer {
    return statusAnswer(id, this.get(id)?.environment.state)
  }

  /** What it says of itself, connecting when needed. Raises `UnknownEnvironmentError`, `EnvironmentError`. */
  async info(id: string): Promise<EnvironmentInfoAnswer> {
    const placed = this.get(id)
    if (placed === undefined) throw new UnknownEnvironmentError(id, { known: this.ids })
    return infoAnswer(await placed.environment.info())
  }

  /** Starts connecting to these in the background; their states tell what came of it. Unknown ids are left alone. */
  warm(ids: Iterable<string>): void {
    for (const id of new Set(ids)) {
      // The state tells a failure, and the next use tries anew.
      this.#placed
        .get(id)
        ?.held.environment.info()
        .catch(() => {})
    }
  }

  /** Takes over a configuration that was loaded again. What did not change keeps its environment and its processes. */
  replace(settings: EnvironmentSettings): void {
    if (this.#closed !== undefined) throw new ClosedError('the environment registry')
    this.#settings = settings
    this.#place()
  }

  /** Lets go of every executor; those that no other runtime uses are closed. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= this.#shutDown()
    return this.#closed
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #wanted(): readonly Wanted[] {
    const configured = this.#settings.entries.map((entry): Wanted => this.#added.get(entry.id) ?? entry)
    const ids = new Set(configured.map(({ id }) => id))
    return [...configured, ...[...this.#added.values()].filter(({ id }) => !ids.has(id))]
  }

  #place(): void {
    const wanted = this.#wanted()
    const before = this.#placed
    const placed = new Map<string, Placed>()
    const told: (readonly [string, EnvironmentState])[] = []
    for (const one of wanted) {
      const old = before.get(one.id)
      const kept = old !== undefined && old.held.handle === definitionHandle(one)
      const now = kept ? old : this.#hold(one)
      placed.set(one.id, now)
      if (old !== undefined && !kept) told.push([one.id, now.held.environment.state])
    }
    this.#placed = placed
    this.#cwds = new Map(wanted.flatMap(({ id, cwd }) => (cwd === undefined ? [] : [[id, cwd] as const])))
    for (const [id, old] of before) {
      if (placed.get(id) === old) continue
      this.#letGo(old)
      if (!placed.has(id)) told.push([id, CLOSED])
    }
    for (const [id, state] of told) this.#tell(id, state)
  }

  #hold(wanted: Wanted): Placed {
    const held = this.#table.hold(wanted)
    const { environment, handle } = held
    return {
      held,
      placed: Object.freeze({ environment, handle }),
      unlisten: environment.onstate((state) => this.#tell(wanted.id, state)),
    }
  }

  #letGo({ held, unlisten }: Placed): void {
    unlisten()
    const releasing = held.release().finally(() => this.#releasing.delete(releasing))
    this.#releasing.add(releasing)
  }

  #tell(id: string, state: EnvironmentState): void {
    for (const listener of [...this.#listeners]) listener(id, state)
  }

  async #shutDown(): Promise<void> {
    for (const placed of this.#placed.values()) this.#letGo(placed)
    this.#placed = new Map()
    this.#listeners.clear()
    await Promise.all(this.#releasing)
  }
}

const CLOSED: EnvironmentState = Object.freeze({ is: 'closed' })

function refuseId(id: string): void {
  if (id === LOCAL_ENVIRONMENT) {
    const message = 'environment id `local` is reserved for EnvironmentManager'
    throw new ConfigError('reserved_id', message, { place: 'environments.local' })
  }
  const fault = environmentIdFault(id)
  if (fault !== undefined) throw new ConfigError(fault.code, fault.message, { place: 'environments' })
}

function checked(id: string, connection: EnvironmentConnection): EnvironmentConnection {
  const place = `environments.${id}`
  if (connection.kind === 'command') {
    if (connection.program !== '') return connection
    throw new ConfigError('empty', `environment \`${id}\` program cannot be empty`, { place })
  }
  const { url, bearerToken, bearerTokenEnvVar } = connection
  if (url.trim() === 'none') {
    throw new ConfigError('disabled_url', 'remote environment cannot use disabled exec-server url', { place })
  }
  const fault = environmentUrlFault(url, { hasToken: (bearerToken ?? bearerTokenEnvVar ?? '') !== '' })
  if (fault !== undefined) throw new ConfigError(fault.code, fault.message, { place })
  return url === url.trim() ? connection : { ...connection, url: url.trim() }
}
