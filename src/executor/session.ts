import { randomUUID } from 'node:crypto'
import { EXEC_EVENTS, EXEC_LIMITS, encodeBytes } from '../protocol/index.js'
import type { DeathWatch } from './processes/death-watch.js'
import { ManagedProcess, type ProcessEvent, type StartedChild } from './processes/managed-process.js'
import type { ProcessGroup } from './processes/process-group.js'
import { invalidRequest } from './wire/fault.js'

/** Where the notifications of a session go: one connection, or nowhere. */
export interface Attachment {
  notify(method: string, params: object): void
  /** The client does not keep up: the processes wait. */
  readonly isCongested: boolean
}

type Entry = { readonly is: 'starting' } | { readonly is: 'started'; readonly process: ManagedProcess }

/** The processes of one client, whatever its socket (reference: executor-protocol, 4.2). */
export class Session {
  readonly id = randomUUID()
  readonly #deathWatch: DeathWatch
  readonly #entries = new Map<string, Entry>()
  /** Every group that may have somebody left, also of processes that are forgotten. */
  readonly #groups = new Set<ProcessGroup>()
  readonly #timers = new Set<NodeJS.Timeout>()
  #attachment: Attachment | undefined
  #state: 'open' | 'ended' = 'open'

  constructor(deathWatch: DeathWatch) {
    this.#deathWatch = deathWatch
  }

  attach(attachment: Attachment): void {
    this.#attachment = attachment
  }

  /** Output is read on, and kept as far as it is retained. */
  detach(): void {
    this.#attachment = undefined
    this.resume()
  }

  resume(): void {
    for (const process of this.#processes()) process.resume()
  }

  /** Keeps an id until its process is there, or did not start. @throws RpcError -32600 when it is taken */
  reserve(id: string): void {
    if (this.#state === 'ended') throw invalidRequest('the session has ended')
    if (this.#entries.has(id)) throw invalidRequest('a process of this id already exists')
    this.#entries.set(id, { is: 'starting' })
  }

  release(id: string): void {
    this.#entries.delete(id)
  }

  /** Takes a process that was just started; one that comes too late is killed. */
  adopt(id: string, child: StartedChild, pid: number): void {
    const process = new ManagedProcess(child, pid, (event) => this.#tell(id, event))
    this.#groups.add(process.group)
    this.#deathWatch.add(process.group)
    this.#entries.set(id, { is: 'started', process })
    void process.closed.then(() => this.#closed(id, process.group))
    if (this.#state === 'ended') process.terminate()
  }

  find(id: string): Entry | undefined {
    return this.#entries.get(id)
  }

  /** Kills everything, stragglers included; resolves when it is collected. */
  async end(): Promise<void> {
    this.#state = 'ended'
    this.#attachment = undefined
    for (const timer of this.#timers) clearTimeout(timer)
    const processes = [...this.#processes()]
    for (const process of processes) process.terminate()
    for (const group of this.#groups) group.killTree()
    await Promise.all(processes.map((process) => process.closed))
    for (const group of this.#groups) this.#deathWatch.remove(group)
    this.#entries.clear()
  }

  #closed(id: string, group: ProcessGroup): void {
    if (!group.exists()) {
      this.#groups.delete(group)
      this.#deathWatch.remove(group)
    }
    if (this.#state === 'ended') return
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      this.#entries.delete(id)
    }, EXEC_LIMITS.closedMs)
    timer.unref()
    this.#timers.add(timer)
  }

  #tell(processId: string, event: ProcessEvent): void {
    const attachment = this.#attachment
    if (attachment === undefined) return
    switch (event.kind) {
      case 'output': {
        const { seq, stream, bytes } = event.chunk
        attachment.notify(EXEC_EVENTS.output, { processId, seq, stream, chunk: encodeBytes(bytes) })
        break
      }
      case 'exited':
        attachment.notify(EXEC_EVENTS.exited, {
          processId,
          seq: event.seq,
          exitCode: event.exitCode,
          sandboxDenied: false,
        })
        break
      case 'closed':
        attachment.notify(EXEC_EVENTS.closed, { processId, seq: event.seq })
        break
    }
    if (attachment.isCongested) for (const process of this.#processes()) process.pause()
  }

  *#processes(): Iterable<ManagedProcess> {
    for (const entry of this.#entries.values()) if (entry.is === 'started') yield entry.process
  }
}
