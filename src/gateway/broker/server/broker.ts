import { mkdirSync } from 'node:fs'
import type { Socket } from 'node:net'
import { BrokerError, ClosedError, ReeveError } from '../../../errors.js'
import type { JsonObject } from '../../../protocol/index.js'
import type { Reeve } from '../../../reeve.js'
import { loadOrCreateToken } from '../../http/token.js'
import { removeRecord, writeRecord } from '../broker-record.js'
import { type BrokerPlace, brokerPlace } from '../place.js'
import { errorLine } from '../wire/error-line.js'
import type { HandshakeLines } from '../wire/handshake-lines.js'
import type { ControlHello, SessionHello } from '../wire/hello.js'
import type { GoodbyeReason } from '../wire/session-frames.js'
import { toWire } from '../wire/thread-shapes.js'
import type { BrokerLog } from './broker-log.js'
import { brokerStatus } from './broker-status.js'
import type { Variables } from './client-variables.js'
import { askForVariables, greetClient } from './greet-client.js'
import { givenBy, hostSession } from './host-session.js'
import { type Listening, listenAt } from './listening.js'
import { openSession } from './open-session.js'
import { reapAndTell } from './reaping.js'
import { SessionTable } from './session-table.js'
import { becomeSoleBroker } from './sole-broker.js'
import { Workspaces, type WorkspaceVisit } from './workspaces.js'

export interface BrokerOptions {
  /** Absolute. */
  readonly home: string
  /** Of Reeve. */
  readonly version: string
  readonly log: BrokerLog
  /** Milliseconds without a client after which it ends. Default 5 minutes. */
  readonly idleMs?: number
  /** It lives in a process that has more to do: never ends for want of clients. Default false. */
  readonly hosted?: boolean
  /** Milliseconds that requests under way may take once it was told to stop. Default 5000. */
  readonly drainMs?: number
  /** The same when a newer version takes over, whose clients wait for nothing. Default 10 minutes. */
  readonly handoverMs?: number
  /** Milliseconds for a client's handshake. Default 5000. */
  readonly handshakeMs?: number
  /** Reeve's own command line, which servers may be told of as a launcher; absolute. */
  readonly commandLine?: string
}

/** The process that hosts a broker, as a client of it. */
export interface Lodger {
  /** Absolute. */
  readonly cwd: string
  readonly configFiles: readonly string[]
  readonly env: Variables
  readonly onStop: () => void
}

export const BROKER_IDLE_MS = 5 * 60_000

type State = 'serving' | 'leaving' | 'closed'

/**
 * The one process that runs the servers of a home for all its clients. It ends by itself when nobody has used it for a
 * while, when it is told to, and when a newer version asks for its place.
 */
export class Broker {
  /** Resolves when every client and server is gone. Never rejects. */
  readonly closed: Promise<void>
  readonly startedAt = Date.now()
  readonly #options: BrokerOptions
  readonly #place: BrokerPlace
  readonly #key: string
  readonly #workspaces: Workspaces
  readonly #sessions = new SessionTable()
  readonly #sole: Disposable
  #listening: Listening | undefined
  #state: State = 'serving'
  #reason: GoodbyeReason | undefined
  #idle: NodeJS.Timeout | undefined
  #ended: () => void = () => undefined

  /** Undefined when another broker of this home runs. */
  static async open(options: BrokerOptions): Promise<Broker | undefined> {
    const place = brokerPlace(options.home)
    mkdirSync(place.folder, { recursive: true, mode: 0o700 })
    const sole = becomeSoleBroker(place.lock)
    if (sole === undefined) return undefined
    try {
      const broker = new Broker(options, place, await loadOrCreateToken(place.key), sole)
      await broker.#listen()
      return broker
    } catch (error) {
      sole[Symbol.dispose]()
      throw error
    }
  }

  private constructor(options: BrokerOptions, place: BrokerPlace, key: string, sole: Disposable) {
    this.#options = options
    this.#place = place
    this.#key = key
    this.#sole = sole
    const { home, log, commandLine } = options
    this.#workspaces = new Workspaces({
      home,
      keptMs: this.#idleMs,
      ...(commandLine !== undefined && { commandLine }),
      ready: reapAndTell(home, log),
      onWarning: (warning) => log.warn({}, warning.message),
    })
    this.closed = new Promise((resolve) => {
      this.#ended = resolve
    })
  }

  /** Ends it in an orderly way: answers under way may still leave, then every server ends. Idempotent. */
  close(): Promise<void> {
    this.#leave('stopped', this.#options.drainMs ?? 5000)
    return this.closed
  }

  /**
   * Makes the process that hosts this broker a client of it: what it serves by itself has its servers here too, until it
   * leaves. `onStop` tells it to: somebody stopped the broker, and every server is about to end.
   */
  async lodge(lodger: Lodger): Promise<WorkspaceVisit> {
    if (this.#state !== 'serving') throw new ClosedError('the broker')
    const { cwd, configFiles, env, onStop } = lodger
    const entry = this.#sessions.enter({ mode: 'host', pid: process.pid, cwd, resumed: 0 }, this.#options.version)
    entry.opened(hostSession(entry.gone, onStop))
    try {
      const { reeve, leave } = await this.#workspaces.visit({
        cwd,
        configFiles,
        ask: async (names) => givenBy(env, names),
      })
      return {
        reeve,
        leave: () => {
          leave()
          entry.left()
        },
      }
    } catch (error) {
      entry.left()
      throw error
    }
  }

  get #idleMs(): number {
    return this.#options.idleMs ?? BROKER_IDLE_MS
  }

  async #listen(): Promise<void> {
    const { log, version } = this.#options
    this.#listening = await listenAt(this.#place.socket, (socket) => void this.#serve(socket))
    writeRecord(this.#place.record, { version, startedAt: this.startedAt })
    this.#awaitIdle()
    log.info({ version, socket: this.#place.socket.path }, 'the broker listens')
  }

  /** One connection, from its first byte. */
  async #serve(socket: Socket): Promise<void> {
    const { log, version, handshakeMs } = this.#options
    // Faults are the business of whoever reads; without a listener they would end the process.
    socket.on('error', (error) => log.debug({}, `a client's connection: ${error.message}`))
    try {
      const {
        hello,
        lines,
        version: client,
      } = await greetClient(socket, {
        key: this.#key,
        version,
        ...(handshakeMs !== undefined && { timeoutMs: handshakeMs }),
      })
      if (hello.mode === 'control') await this.#obey(hello, socket, lines)
      else await this.#admit(hello, socket, lines, client)
    } catch (error) {
      // Whoever comes too late asks again, and finds the next broker.
      const told = this.#state === 'serving' ? error : new BrokerError('broker_lost', 'the broker is leaving')
      log.info({ code: told instanceof ReeveError ? told.code : 'internal' }, messageOf(told))
      if (!socket.destroyed) socket.end(`${JSON.stringify(errorLine(told))}\n`)
      socket.resume()
    }
  }

  async #admit(hello: SessionHello, socket: Socket, lines: HandshakeLines, version: string): Promise<void> {
    if (this.#state !== 'serving') throw new ClosedError('the broker')
    const { log } = this.#options
    const entry = this.#sessions.enter(hello, version)
    clearTimeout(this.#idle)
    try {
      const visit = await this.#workspaces.visit({ ...hello, ask: (names) => askForVariables(lines, names) })
      try {
        const make = openSession(hello, { reeve: visit.reeve, version: this.#options.version, log })
        lines.send({ welcome: welcomeOf(visit.reeve) })
        lines.release()
        const session = make(socket)
        entry.opened(session)
        await session.start()
        if (this.#reason !== undefined) session.goodbye(this.#reason)
        await session.closed
      } finally {
        visit.leave()
      }
    } finally {
      lines.release()
      entry.left()
      this.#awaitIdle()
    }
  }

  async #obey({ action }: ControlHello, socket: Socket, lines: HandshakeLines): Promise<void> {
    lines.release()
    if (action === 'handover') this.#leave('handover', this.#options.handoverMs ?? 10 * 60_000)
    const welcome = brokerStatus({
      version: this.#options.version,
      state: this.#state,
      startedAt: this.startedAt,
      idleMs: this.#idleMs,
      sessions: this.#sessions.rows(),
      workspaces: this.#workspaces.rows(),
    })
    socket.write(`${JSON.stringify({ welcome })}\n`)
    if (action === 'stop') {
      this.#leave('stopped', this.#options.drainMs ?? 5000)
      // The end of this connection tells that all is gone.
      await this.closed
    }
    socket.end()
    socket.resume()
  }

  #awaitIdle(): void {
    if (this.#state !== 'serving' || this.#sessions.size > 0 || this.#options.hosted === true) return
    clearTimeout(this.#idle)
    this.#idle = setTimeout(() => this.#leave('stopped', 0), this.#idleMs)
  }

  /** From here on another broker may take the place, which waits for nothing that still goes on here. */
  #leave(reason: GoodbyeReason, patienceMs: number): void {
    if (this.#state !== 'serving') return
    this.#state = 'leaving'
    this.#reason = reason
    this.#options.log.info({ reason }, 'the broker leaves')
    clearTimeout(this.#idle)
    this.#listening?.stop()
    removeRecord(this.#place.record)
    this.#sole[Symbol.dispose]()
    void this.#finish(reason, patienceMs)
  }

  async #finish(reason: GoodbyeReason, patienceMs: number): Promise<void> {
    const { log } = this.#options
    try {
      await this.#sessions.dismiss(reason, patienceMs)
      await this.#workspaces.close()
    } catch (error) {
      log.warn({}, messageOf(error))
    }
    this.#state = 'closed'
    log.info({}, 'the broker has ended')
    this.#ended()
  }
}

/** What a client is told with its session: its servers, and what is wrong with its configuration and the state. */
function welcomeOf({ servers, problems, warnings }: Reeve): JsonObject {
  return toWire({
    problems,
    warnings: warnings.map(({ message }) => message),
    keys: servers.map(({ key }) => key),
  })
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
