import { LIMITS, LineSplitter } from '../../protocol/index.js'
import { redactedPrefix } from '../http/redaction.js'

/**
 * A server's stderr, which is no part of the protocol (reference: connections, 9.5): lines go to a callback, the last
 * ones are kept for the error that tells how the server ended. Invalid UTF-8 is replaced, control characters become
 * spaces, and the secrets that the server was given are not repeated.
 */
export class StderrTail {
  readonly #splitter: LineSplitter
  readonly #secrets: readonly string[]
  readonly #online: ((line: string) => void) | undefined
  #kept: string[] = []

  constructor(secrets: readonly string[], online: ((line: string) => void) | undefined) {
    this.#secrets = secrets
    this.#online = online
    this.#splitter = new LineSplitter({
      limit: LIMITS.stderrLine,
      tooLong: 'cut',
      onLine: (line) => this.#take(line),
      what: 'a stderr line',
    })
  }

  push(chunk: Buffer): void {
    this.#splitter.push(chunk)
  }

  /** The stream ended: an unterminated last line counts. */
  end(): void {
    this.#splitter.end()
  }

  /** The last lines, oldest first: at most 20 and 8 KiB. */
  get lines(): readonly string[] {
    return this.#kept.map((line) => redactedPrefix(Buffer.from(line), LIMITS.errorPreview, this.#secrets).text)
  }

  #take(bytes: Buffer): void {
    let line = bytes.toString('utf8').replace(CONTROL, ' ').trimEnd()
    for (const secret of this.#secrets) line = line.replaceAll(secret, '[redacted]')
    if (line === '') return
    this.#kept.push(line.slice(0, KEPT_CHARACTERS))
    while (this.#kept.length > KEPT_LINES || this.#kept.join('').length > KEPT_CHARACTERS) this.#kept.shift()
    this.#online?.(line)
  }
}

const KEPT_LINES = 20
const KEPT_CHARACTERS = 8192
const CONTROL = /\p{Cc}/gu
