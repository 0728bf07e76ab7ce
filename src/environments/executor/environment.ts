import { CancelledError, ClosedError } from '../../errors.js'
import type { EnvironmentId } from '../../identity/index.js'
import {
  EXEC_LIMITS,
  type ExecEnvironmentInfo,
  type ExecMethod,
  type ExecPathStyle,
  execPathStyle,
} from '../../protocol/index.js'
import type {
  AskOptions,
  Environment,
  EnvironmentProcess,
  EnvironmentState,
  HttpClient,
  SpawnRequest,
} from '../environment.js'
import { RemoteFiles } from './files.js'
import { RemoteHttp } from './http.js'
import type { CallOptions } from './link.js'
import { ExecutorMonitor } from './monitor.js'
import { LinkPool } from './pool.js'
import { REMOTE_PROCESS_TIMES, RemoteProcess, type RemoteProcessTimes } from './process.js'
import { startParamsOf } from './start-params.js'
import type { Connector } from './wire.js'

export interface ExecutorEnvironmentOptions {
  readonly id: EnvironmentId
  /** From `webSocketConnector` or `commandConnector`. */
  readonly connector: Connector
  /** Told to the executor; `reeve`. */
  readonly clientName?: string
  /** Milliseconds for the handshake; 10,000. */
  readonly initializeMs?: number
  /** Milliseconds in all to take up a lost connection; 45,000, and less than the 80 s an executor keeps a session. */
  readonly recoveryMs?: number
  /** Milliseconds that nobody may listen at its port until what ran there counts as lost; 2,000. */
  readonly refusedMs?: number
  /** Milliseconds between two questions whether it still answers; 30,000. */
  readonly healthMs?: number
  readonly times?: Partial<RemoteProcessTimes>
}

/**
 * Another machine, or another user's side of this one, behind an executor: `codex exec-server`, or `reeve executor`.
 * Every process and every HTTP exchange has a connection of its own, so that one that is stuck blocks no other; a further
 * one watches the executor. Nothing connects before the first use.
 *
 * @example
 * ```ts
 * const connector = webSocketConnector({ environment: 'devbox', url: 'ws://127.0.0.1:4100', token })
 * const environment = new ExecutorEnvironment({ id: environmentId('devbox'), connector })
 * const server = await environment.spawn({ program: 'npx', args: ['server'], env: {}, cwd: '/srv', label: 'notes' })
 * ```
 */
export class ExecutorEnvironment implements Environment {
  readonly id: EnvironmentId
  readonly kind = 'executor'
  readonly http: HttpClient
  readonly files: RemoteFiles
  readonly #link: { environment: string; connector: Connector; clientName: string; initializeMs: number }
  readonly #recovery: { readonly recoveryMs: number; readonly refusedMs?: number }
  readonly #times: RemoteProcessTimes
  readonly #monitor: ExecutorMonitor
  readonly #pool: LinkPool
  readonly #live = new Set<RemoteProcess>()
  readonly #abort = new AbortController()
  #lastProcess = 0
  #closing: Promise<void> | undefined

  constructor(options: ExecutorEnvironmentOptions) {
    const { id, connector, clientName = 'reeve', initializeMs = EXEC_LIMITS.initializeMs } = options
    this.id = id
    this.#link = { environment: id, connector, clientName, initializeMs }
    const { recoveryMs = EXEC_LIMITS.recoveryMs, refusedMs } = options
    this.#recovery = { recoveryMs, ...(refusedMs !== undefined && { refusedMs }) }
    this.#times = { ...REMOTE_PROCESS_TIMES, ...options.times }
    const { recoveringWaitMs } = this.#times
    const { healthMs = EXEC_LIMITS.pingMs } = options
    this.#monitor = new ExecutorMonitor({ ...this.#link, recoveryMs, recoveringWaitMs, healthMs })
    this.#pool = new LinkPool(this.#link)
    // Where one connection has died without a word, the others may have too.
    this.#monitor.onstate((state) => {
      if (state.is === 'recovering') for (const running of this.#live) void running.probe()
      // An exchange cannot be asked whether it still goes on. Over commands each has an executor of its own.
      if (state.is === 'failed' && options.connector.resumable) this.#pool.drop(state.error)
    })
    this.http = new RemoteHttp(this.#pool, () => this.info(), options.connector.isExposed)
    this.files = new RemoteFiles(this.#pool, () => this.pathStyle())
  }

  filesUnder(sandbox: object): RemoteFiles {
    return new RemoteFiles(this.#pool, () => this.pathStyle(), sandbox)
  }

  ask(method: ExecMethod, params: unknown, options: AskOptions = {}): Promise<unknown> {
    const { timeoutMs = EXEC_LIMITS.infoMs, signal } = options
    return this.#pool.use((link) => link.call(method, params, { timeoutMs, ...(signal && { signal }) }), signal)
  }

  get state(): EnvironmentState {
    return this.#monitor.state
  }

  /** Tells every later state of the executor. Returns what ends that. */
  onstate(listener: (state: EnvironmentState) => void): () => void {
    return this.#monitor.onstate(listener)
  }

  /** What the executor says of itself, connecting when needed. Bounded. Raises `EnvironmentError`, `ClosedError`. */
  info(): Promise<ExecEnvironmentInfo> {
    return this.#monitor.info()
  }

  /** `ready`, or what else the executor says. Bounded by 10 s once connected. */
  status(): Promise<string> {
    return this.#monitor.status()
  }

  async pathStyle(): Promise<ExecPathStyle> {
    return execPathStyle((await this.info()).platformOs)
  }

  /** A request of the protocol that stands alone, such as a discovery. Raises `RpcError` for an error answer. */
  async call(method: string, params: unknown, options: CallOptions = {}): Promise<unknown> {
    await this.info()
    return this.#pool.use((link) => link.call(method, params, options), options.signal)
  }

  /**
   * Starts a program. Raises `InvalidArgumentsError` (working directory missing or not absolute there, text that is not
   * Unicode), `ProcessFailedError` (`data.kind` as the executor says), `EnvironmentError`, `CancelledError`, `ClosedError`.
   */
  async spawn(request: SpawnRequest): Promise<EnvironmentProcess> {
    const style = await this.pathStyle()
    this.#lastProcess += 1
    const start = startParamsOf(request, `mcp-stdio-${this.#lastProcess}`, style)
    if (request.signal?.aborted) throw new CancelledError()
    const signal = AbortSignal.any([this.#abort.signal, ...(request.signal ? [request.signal] : [])])
    const session = { ...this.#link, ...this.#recovery, largest: LARGEST_OF_A_PROCESS }
    const running = new RemoteProcess({ session, start, label: request.label, times: this.#times, signal })
    this.#live.add(running)
    void running.released.then(() => this.#live.delete(running))
    await running.start()
    if (this.#closing !== undefined) {
      await running.terminate()
      throw new ClosedError(`environment '${this.id}'`)
    }
    return running
  }

  /** Ends every process, in parallel, then the connections. Bounded; idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#abort.abort()
    await Promise.all(
      [...this.#live].map(async (running) => {
        await running.terminate()
        await running.released
      }),
    )
    await this.http.close()
    await Promise.all([this.#pool.close(), this.#monitor.close()])
  }
}

/** A replay of all the output that an executor keeps, as it stands on the wire, and room for more. */
const LARGEST_OF_A_PROCESS = 16 * 1024 * 1024
