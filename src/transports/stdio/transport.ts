import { setTimeout as pause } from 'node:timers/promises'
import type { EnvironmentProcess, ProcessExit } from '../../environments/index.js'
import {
  EnvironmentError,
  InvalidArgumentsError,
  LimitExceededError,
  ProcessFailedError,
  TransportClosedError,
} from '../../errors.js'
import {
  type JsonRpcMessage,
  LIMITS,
  LineSplitter,
  type ReceivedOn,
  type RequestId,
  type SendOptions,
  type Transport,
  type TransportClosed,
} from '../../protocol/index.js'
import { readLine } from './lines-to-messages.js'
import { NoiseReport } from './noise.js'
import { lastWords, serverExitError } from './server-exit.js'
import { StderrTail } from './stderr-tail.js'
import { WriteQueue } from './write-queue.js'

export interface StdioTransportOptions {
  /** The server's name for people: the display form of its key. */
  readonly label: string
  /** Values that no error text may repeat. */
  readonly secrets?: readonly string[]
  /** Each line of stderr, without control characters and secrets. */
  readonly onstderr?: (line: string) => void
  /** Bytes of one stdout line; 16 MiB. */
  readonly lineLimit?: number
  /** Milliseconds that the server may take to end by itself once its stdin is closed; 500. */
  readonly eofGraceMs?: number
  /** Milliseconds after which an environment that does not report the end is no longer waited for; 10,000. */
  readonly terminateMs?: number
}

type State =
  /** What came before `start`. */
  | { readonly is: 'new'; readonly early: Buffer[]; bytes: number }
  | { readonly is: 'open' }
  | { readonly is: 'closed'; readonly error: Error | undefined }

/**
 * MCP over the pipes of a process in any environment (reference: connections, 9): one JSON message a line. Whatever else
 * comes over stdout is a warning; only a line over the limit, the end of the process, or a closed stdin end the
 * transport. How the process ended is told by `onclose` with a `ProcessFailedError`, or with the reason why its
 * environment gave it up.
 */
export class StdioTransport implements Transport {
  onmessage: ((message: JsonRpcMessage, on: ReceivedOn) => void) | undefined
  onclose: ((closed: TransportClosed) => void) | undefined
  onwarning: ((warning: Error) => void) | undefined
  readonly pid: number | undefined
  readonly #process: EnvironmentProcess
  readonly #who: string
  readonly #eofGraceMs: number
  readonly #terminateMs: number
  readonly #lineLimit: number
  readonly #stdout: LineSplitter
  readonly #stderr: StderrTail
  readonly #noise: NoiseReport
  readonly #writes: WriteQueue
  /** Requests that were given up while they were being written: nobody waits for their answers. */
  readonly #abandoned = new Set<RequestId>()
  #state: State = { is: 'new', early: [], bytes: 0 }
  #exit: ProcessExit | undefined
  #closing: Promise<void> | undefined

  /** To be constructed in the turn in which the process was spawned: it takes over the callbacks. */
  constructor(process: EnvironmentProcess, options: StdioTransportOptions) {
    const {
      label,
      secrets = [],
      onstderr,
      lineLimit = LIMITS.stdioLine,
      eofGraceMs = 500,
      terminateMs = 10_000,
    } = options
    this.pid = process.pid
    this.#process = process
    this.#who = `MCP server '${label}'`
    this.#eofGraceMs = eofGraceMs
    this.#terminateMs = terminateMs
    this.#lineLimit = lineLimit
    this.#stdout = new LineSplitter({
      limit: lineLimit,
      tooLong: 'refuse',
      onLine: (line) => this.#line(line),
      what: this.#lineName,
    })
    this.#stderr = new StderrTail(secrets, onstderr)
    this.#noise = new NoiseReport({ who: this.#who, secrets, onwarning: (warning) => this.onwarning?.(warning) })
    this.#writes = new WriteQueue({
      write: (text) => process.write(text),
      lost: (sent) => this.#closedError(sent),
      isTurnedAway: isRecovering,
      onfault: () => void this.#stdinGone(),
    })
    process.onstdout = (chunk) => this.#receive(chunk)
    process.onstderr = (chunk) => this.#stderr.push(chunk)
    void process.exited.then((exit) => this.#exited(exit))
  }

  /** The last lines of stderr so far, oldest first. */
  get stderr(): readonly string[] {
    return this.#stderr.lines
  }

  /** Rejects when the server was given up before: it flooded us, or `close` came first. */
  async start(): Promise<void> {
    if (this.#state.is === 'closed') throw this.#state.error ?? this.#closedError(false)
    if (this.#state.is === 'open') return
    const { early } = this.#state
    this.#state = { is: 'open' }
    for (const chunk of early) this.#receive(chunk)
    if (this.#exit !== undefined) this.#exited(this.#exit)
  }

  async send(message: JsonRpcMessage, options: SendOptions = {}): Promise<void> {
    if (this.#state.is === 'closed') throw this.#closedError(false)
    const text = serialise(message)
    const isRequest = 'method' in message && 'id' in message
    const onhalfway = () => {
      if (isRequest) this.#abandoned.add(message.id)
    }
    // Who asks may ask again; an answer that is left out leaves the server waiting.
    await this.#writes.push(text, options.signal, onhalfway, !isRequest)
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#stop(undefined)
    this.onclose?.({})
    this.#process.closeStdin()
    await within(this.#eofGraceMs, this.#process.exited)
    await this.#terminate()
  }

  /** Ends the transport because of a fault; the process goes in the background, `close` waits for it. */
  #fail(error: Error): void {
    if (this.#state.is === 'closed') return
    this.#stop(error)
    this.#closing ??= this.#terminate()
    this.onclose?.({ error })
  }

  #stop(error: Error | undefined): void {
    this.#state = { is: 'closed', error }
    this.#noise.flush()
    this.#writes.end()
  }

  /** Bounded by the environment, and here once more, since an environment may be far away. */
  async #terminate(): Promise<void> {
    await within(this.#terminateMs, this.#process.terminate())
  }

  #exited(exit: ProcessExit): void {
    this.#exit = exit
    this.#stderr.end()
    if (this.#state.is !== 'open') return
    this.#stdout.end()
    this.#fail(exit.failure ?? serverExitError(this.#who, exit, this.#stderr.lines))
  }

  /** A server that is about to end tells more by its exit than by its closed stdin. */
  async #stdinGone(): Promise<void> {
    await within(EXIT_AFTER_STDIN_MS, this.#process.exited)
    if (this.#state.is !== 'open' || this.#exit !== undefined) return
    const stderr = this.#stderr.lines
    this.#fail(
      new ProcessFailedError(`${this.#who} closed its stdin and keeps running${lastWords(stderr)}`, {
        data: { exitCode: null, signal: null, stderr },
      }),
    )
  }

  #receive(chunk: Buffer): void {
    if (this.#state.is === 'new') this.#hold(chunk, this.#state)
    if (this.#state.is !== 'open') return
    try {
      this.#stdout.push(chunk)
    } catch (error) {
      this.#fail(asError(error))
    }
  }

  #hold(chunk: Buffer, state: State & { readonly is: 'new' }): void {
    state.early.push(chunk)
    state.bytes += chunk.length
    if (state.bytes > this.#lineLimit) this.#fail(new LimitExceededError(this.#lineName, this.#lineLimit))
  }

  get #lineName(): string {
    return `a line of ${this.#who} on stdout, in bytes,`
  }

  #line(line: Buffer): void {
    const { messages, noise } = readLine(line)
    for (const message of messages) this.#deliver(message)
    for (const what of noise) this.#noise.add(what, line)
  }

  #deliver(message: JsonRpcMessage): void {
    if (this.#state.is !== 'open') return
    if (!('method' in message) && message.id !== null && this.#abandoned.delete(message.id)) return
    try {
      this.onmessage?.(message, NOWHERE)
    } catch (error) {
      // A receiver that fails on one message does not cost the others their connection.
      this.onwarning?.(asError(error))
    }
  }

  #closedError(sent: boolean): TransportClosedError {
    const error = this.#state.is === 'closed' ? this.#state.error : undefined
    const why = this.#state.is === 'closed' ? 'the connection is closed' : 'its stdin is closed'
    return new TransportClosedError(error?.message ?? `${this.#who}: ${why}`, { sent, cause: error })
  }
}

/** Nothing of the message was sent; the process may still be there. */
function isRecovering(error: unknown): error is Error {
  return error instanceof EnvironmentError && error.code === 'environment_recovering'
}

const NOWHERE: ReceivedOn = Object.freeze({})
const EXIT_AFTER_STDIN_MS = 1000

/** JSON text has no raw newline, so a message is one line. */
function serialise(message: JsonRpcMessage): string {
  try {
    return `${JSON.stringify(message)}\n`
  } catch (cause) {
    throw new InvalidArgumentsError(`the message cannot be written as JSON: ${asError(cause).message}`, { cause })
  }
}

/** Waits for the promise, but no longer than this. */
async function within(ms: number, promise: Promise<unknown>): Promise<void> {
  const timer = new AbortController()
  await Promise.race([promise, pause(ms, undefined, { signal: timer.signal }).catch(() => undefined)])
  timer.abort()
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
