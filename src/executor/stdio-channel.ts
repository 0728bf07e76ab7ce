import type { Readable, Writable } from 'node:stream'
import { LimitExceededError } from '../errors.js'
import { EXEC_LIMITS, LineSplitter } from '../protocol/index.js'
import type { Channel, ChannelEvents } from './channel.js'

/** Bytes that wait to leave before the processes are held. */
const CONGESTED = 1024 * 1024

/** Lines on a pair of streams as a channel; LF or CRLF, blank ones are skipped (reference: executor-protocol, 2.3). */
export class StdioChannel implements Channel {
  readonly #input: Readable
  readonly #output: Writable
  #state: 'open' | 'ended' = 'open'
  #end = () => {}

  constructor(input: Readable, output: Writable) {
    this.#input = input
    this.#output = output
  }

  listen(events: ChannelEvents): void {
    const splitter = new LineSplitter({
      limit: EXEC_LIMITS.message,
      tooLong: 'refuse',
      what: 'a line of the client',
      onLine: (line) => {
        const text = line.toString('utf8')
        if (this.#state === 'open' && text.trim() !== '') events.message(text)
      },
    })
    this.#end = () => {
      if (this.#state === 'ended') return
      this.#state = 'ended'
      this.#input.destroy()
      events.ended()
    }
    this.#input.on('data', (chunk: Buffer) => {
      try {
        splitter.push(chunk)
      } catch (error) {
        if (!(error instanceof LimitExceededError)) throw error
        this.#end()
      }
    })
    this.#input.on('error', this.#end)
    this.#input.on('end', () => {
      splitter.end()
      this.#end()
    })
    this.#output.on('drain', () => events.drained())
    this.#output.on('error', this.#end)
    this.#output.on('close', this.#end)
  }

  send(text: string): void {
    if (this.#state === 'open') this.#output.write(`${text}\n`)
  }

  get isCongested(): boolean {
    return this.#output.writableLength > CONGESTED
  }

  pauseInput(): void {
    this.#input.pause()
  }
  resumeInput(): void {
    if (this.#state === 'open' && this.#input.isPaused()) this.#input.resume()
  }

  drop(): void {
    this.#end()
  }

  /** The other end of a pipe is there or is not. */
  probe(): void {}
}
