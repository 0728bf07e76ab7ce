import { stat } from 'node:fs/promises'
import { CancelledError, ClosedError, ProcessFailedError } from '../errors.js'
import { type EnvironmentId, LOCAL_ENVIRONMENT } from '../identity/index.js'
import { type ExecEnvironmentInfo, type ExecPathStyle, hostInfo } from '../protocol/index.js'
import type { Environment, EnvironmentProcess, EnvironmentState, HttpClient, SpawnRequest } from './environment.js'
import { Journal, type JournalEntry } from './journal.js'
import { localFiles } from './local-files.js'
import { LocalProcess } from './local-process.js'
import { LocalTree } from './local-tree.js'
import { MemberNotes } from './member-notes.js'
import type { ProcessRow, ProcessTable } from './processes/rows.js'
import { processTable } from './processes/table.js'
import { resolveProgram } from './program.js'
import { type StartedChild, startChild } from './starting.js'

export interface LocalEnvironmentOptions {
  /** Owned by the environment from here on: `close` closes it. */
  readonly http: HttpClient
  /** Reeve's home directory, for the orphan journal in `run/`. Without it nothing survives a SIGKILL on record. */
  readonly home?: string
  /** Milliseconds between TERM and KILL; 2,000. */
  readonly termGraceMs?: number
  /** Milliseconds to wait for processes to be gone after KILL; 2,000. */
  readonly killWaitMs?: number
  /** A fault that stops nothing: the journal cannot be written. */
  readonly onwarning?: (warning: Error) => void
}

/**
 * The host. Every process leads a session and group of its own and is ended with everything it started: by
 * `terminate`, by its own exit, by `close`, at the exit of this process, and, after a SIGKILL of this process, by
 * `reapOrphans` at the next start (reference: connections, 9).
 *
 * @example
 * ```ts
 * const environment = new LocalEnvironment({ http: createHttpClient(), home })
 * const server = await environment.spawn({ program: 'npx', args: ['server'], env: { PATH }, label: 'notes' })
 * ```
 */
export class LocalEnvironment implements Environment {
  readonly id: EnvironmentId = LOCAL_ENVIRONMENT
  readonly kind = 'local'
  readonly http: HttpClient
  readonly files = localFiles
  readonly #options: LocalEnvironmentOptions
  readonly #platform = process.platform
  readonly #since = Date.now()
  readonly #table: ProcessTable = processTable(this.#platform)
  readonly #live = new Map<LocalProcess, JournalEntry | undefined>()
  readonly #notes: MemberNotes
  #journal: Promise<Journal | undefined> | undefined
  #ready: EnvironmentState | undefined
  #closing: Promise<void> | undefined
  readonly #onExit = () => this.killNow()

  constructor(options: LocalEnvironmentOptions) {
    this.#options = options
    this.http = options.http
    this.#notes = new MemberNotes(this.#table, (error) => this.#warn(error))
  }

  /** Asked for with every call: what the host says of itself is read once. */
  get state(): EnvironmentState {
    if (this.#closing !== undefined) return { is: 'closed' }
    this.#ready ??= { is: 'ready', since: this.#since, info: hostInfo(currentFolder(), process.env) }
    return this.#ready
  }

  /** The host has no other state than ready until it is closed. */
  onstate(): () => void {
    return () => {}
  }

  async info(): Promise<ExecEnvironmentInfo> {
    return hostInfo(currentFolder(), process.env)
  }

  async pathStyle(): Promise<ExecPathStyle> {
    return this.#platform === 'win32' ? 'windows' : 'posix'
  }

  /** The processes that run now, their trees included. */
  get running(): number {
    return this.#live.size
  }

  /**
   * Starts a program. `signal` ends the start only; a running process is ended with `terminate`.
   * Raises `ProcessFailedError` (program, cwd and reason named), `CancelledError`, `ClosedError`.
   */
  async spawn(request: SpawnRequest): Promise<EnvironmentProcess> {
    const cwd = request.cwd ?? currentFolder()
    this.#journal ??= this.#openJournal()
    const journal = await this.#journal
    const program = await resolveProgram(this.#platform, request.program, request.env, cwd, isFile)
    if (this.#closing !== undefined) throw new ClosedError('the local environment')
    if (request.signal?.aborted) throw new CancelledError()

    const child = startChild(program, request, cwd, this.#platform)
    if ('fault' in child) throw await child.fault
    return this.#adopt(child, request.label, journal)
  }

  /** Ends every process tree, in parallel, and closes the HTTP client. Bounded; idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  /** KILL to every tree, synchronously: the last resort when this process exits. */
  killNow(): void {
    if (this.#live.size === 0) return
    const rows = this.#rowsNow()
    for (const running of this.#live.keys()) running.killNow(rows)
  }

  /** Without a table the groups are killed all the same. */
  #rowsNow(): readonly ProcessRow[] {
    try {
      return this.#table.rowsNow?.() ?? []
    } catch {
      return []
    }
  }

  /** Runs in the turn that started the child: what comes before the journal entry is not covered by it. */
  #adopt(child: StartedChild, label: string, journal: Journal | undefined): LocalProcess {
    const entry = journal && this.#record(journal, child.pid, label)
    const tree = new LocalTree(child.pid, this.#table, this.#platform)
    const { termGraceMs = 2000, killWaitMs = 2000 } = this.#options
    const running = new LocalProcess(child, tree, { termGraceMs, killWaitMs }, label)
    if (this.#live.size === 0) this.#guardExit()
    this.#live.set(running, entry)
    if (entry !== undefined) this.#notes.add(entry, child.pid)
    void running.ended.then((gone) => gone && this.#release(running))
    return running
  }

  #release(running: LocalProcess): void {
    const entry = this.#live.get(running)
    this.#live.delete(running)
    if (this.#live.size === 0) this.#unguardExit()
    if (entry === undefined) return
    this.#notes.delete(entry)
    try {
      entry.remove()
    } catch (error) {
      this.#warn(error)
    }
  }

  /** A server is worth more than its journal entry: without one it runs all the same, and the user is told. */
  #record(journal: Journal, pid: number, label: string): JournalEntry | undefined {
    try {
      return journal.add(pid, label)
    } catch (error) {
      this.#warn(error)
      return undefined
    }
  }

  async #openJournal(): Promise<Journal | undefined> {
    if (this.#options.home === undefined) return undefined
    try {
      return await Journal.open(this.#options.home, this.#table)
    } catch (error) {
      this.#warn(error)
      return undefined
    }
  }

  #warn(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error)
    this.#options.onwarning?.(
      new ProcessFailedError(`the orphan journal cannot be kept: ${reason}. After a SIGKILL servers may stay behind`, {
        place: this.#options.home ?? '',
        cause: error,
      }),
    )
  }

  /** One listener while something runs. Several environments in one process are no leak, so the limit moves along. */
  #guardExit(): void {
    process.on('exit', this.#onExit)
    const limit = process.getMaxListeners()
    if (limit > 0) process.setMaxListeners(limit + 1)
  }

  #unguardExit(): void {
    process.off('exit', this.#onExit)
    const limit = process.getMaxListeners()
    if (limit > 0) process.setMaxListeners(limit - 1)
  }

  async #close(): Promise<void> {
    await Promise.all([...this.#live.keys()].map((running) => running.terminate()))
    this.#notes.stop()
    await this.http.close()
  }
}

function currentFolder(): string {
  try {
    return process.cwd()
  } catch (cause) {
    throw new ProcessFailedError('the working directory of this process is gone: name one for the server', { cause })
  }
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  )
}
