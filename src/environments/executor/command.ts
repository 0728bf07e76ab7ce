import { setTimeout as pause } from 'node:timers/promises'
import { LimitExceededError, ProtocolViolationError, type ReeveError, TransportClosedError } from '../../errors.js'
import { EXEC_LIMITS, LineSplitter, utf8Text } from '../../protocol/index.js'
import type { Environment, EnvironmentProcess } from '../environment.js'
import type { Connector, Wire } from './wire.js'

export interface CommandOptions {
  /** The environment's id, for errors. */
  readonly environment: string
  /** Where the command runs: the host. */
  readonly host: Pick<Environment, 'spawn'>
  readonly program: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd?: string
  /** What the command says on stderr, in pieces. */
  readonly onstderr?: (chunk: Buffer) => void
}

/**
 * An executor on the pipes of a command: `codex exec-server --listen stdio`, or the same through `ssh` or `docker exec`.
 * Each connection is a process of its own, and what runs there ends with it.
 */
export function commandConnector(options: CommandOptions): Connector {
  return {
    place: options.program,
    resumable: false,
    async open({ largest, signal }) {
      const process = await options.host.spawn({
        program: options.program,
        args: options.args,
        env: options.env,
        ...(options.cwd !== undefined && { cwd: options.cwd }),
        label: `environment '${options.environment}'`,
        ...(signal !== undefined && { signal }),
      })
      return new CommandWire(process, options, largest)
    },
  }
}

class CommandWire implements Wire {
  onmessage: (text: string) => void = () => {}
  readonly closed: Promise<ReeveError | undefined>
  readonly #process: EnvironmentProcess
  readonly #place: string
  #fault: ReeveError | undefined

  constructor(process: EnvironmentProcess, options: CommandOptions, largest: number) {
    this.#process = process
    this.#place = options.program
    const lines = new LineSplitter({
      limit: largest,
      onLine: (line) => this.#take(line),
      tooLong: 'refuse',
      what: `a line of the executor ${options.program}`,
    })
    process.onstdout = (chunk) => {
      try {
        lines.push(chunk)
      } catch (error) {
        if (!(error instanceof LimitExceededError)) throw error
        this.#refuse(error)
      }
    }
    let said = ''
    process.onstderr = (chunk) => {
      said = (said + chunk.toString('utf8')).slice(-LAST_WORDS)
      options.onstderr?.(chunk)
    }
    this.closed = process.exited.then(({ code, signal }) => {
      const how = signal === null ? `exit code ${code}` : `signal ${signal}`
      // What ssh, docker and the like say when they get nowhere stands on stderr alone.
      const last = said.trimEnd().split('\n').at(-1)?.trim() ?? ''
      const text = `the executor command ${this.#place} ended (${how})${last === '' ? '' : `: ${last}`}`
      return this.#fault ?? new TransportClosedError(text, { sent: true, place: this.#place, data: { code, signal } })
    })
  }

  async send(text: string): Promise<void> {
    if (Buffer.byteLength(text) > EXEC_LIMITS.message)
      throw new LimitExceededError(`a message to ${this.#place}`, EXEC_LIMITS.message)
    try {
      await this.#process.write(`${text}\n`)
    } catch (error) {
      // One that gets nowhere closes its pipes before it ends, and only its end says why.
      throw (await withinMs(ENDING_MS, this.closed)) ?? error
    }
  }

  pause(): boolean {
    return false
  }

  resume(): void {}

  drop(): void {
    void this.#process.terminate()
  }

  async close(): Promise<void> {
    await this.#process.terminate()
  }

  #take(line: Buffer): void {
    if (this.#fault !== undefined || line.length === 0) return
    const text = utf8Text(line)
    if (text !== undefined) this.onmessage(text)
    else
      this.#refuse(new ProtocolViolationError(`${this.#place} sent a line that is not UTF-8`, { place: this.#place }))
  }

  #refuse(fault: ReeveError): void {
    this.#fault ??= fault
    this.drop()
  }
}

/** Undefined when it takes longer. */
async function withinMs<T>(milliseconds: number, awaited: Promise<T>): Promise<T | undefined> {
  const timer = new AbortController()
  const late = pause(milliseconds, undefined, { signal: timer.signal }).catch(() => undefined)
  const first = await Promise.race([awaited, late])
  timer.abort()
  return first
}

/** Milliseconds in which a command that takes no more input is about to end. */
const ENDING_MS = 1000

/** How much of its stderr is kept for the error, in characters. */
const LAST_WORDS = 1000
