import { isUtf8 } from 'node:buffer'
import { LimitExceededError } from '../errors.js'

export interface LineSplitterOptions {
  /** The longest line in bytes, its terminator not counted. */
  readonly limit: number
  /** Receives each line without its LF and without one CR before it. The bytes may belong to a larger buffer. */
  readonly onLine: (line: Buffer) => void
  /**
   * What happens to a longer line: `refuse` raises `LimitExceededError` as soon as the limit is passed and takes no more
   * bytes; `cut` delivers it in pieces of `limit` bytes.
   */
  readonly tooLong: 'refuse' | 'cut'
  /** Names the stream in the error: `a stdout line of MCP server 'notes'`. */
  readonly what: string
}

/**
 * Splits a byte stream into newline-terminated lines (reference: connections, 9.6). The work is linear in the bytes
 * however the stream is chunked, and no more than one line is held.
 *
 * @example
 * ```ts
 * const splitter = new LineSplitter({ limit: LIMITS.stdioLine, onLine, tooLong: 'refuse', what: 'a line' })
 * socket.on('data', (chunk) => splitter.push(chunk))
 * socket.on('end', () => splitter.end())
 * ```
 */
export class LineSplitter {
  readonly #options: LineSplitterOptions
  /** The unfinished line: its first `#held` bytes. */
  #buffer = EMPTY
  #held = 0
  #refused = false

  constructor(options: LineSplitterOptions) {
    this.#options = options
  }

  /** Delivers the lines that the chunk completes. Raises `LimitExceededError` once, then ignores what follows. */
  push(chunk: Buffer): void {
    if (this.#refused) return
    let start = 0
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      const rest = this.#withinLimit(chunk.subarray(start, end))
      if (this.#held === 0) this.#deliver(rest)
      else {
        this.#hold(rest)
        this.#deliverHeld()
      }
      start = end + 1
    }
    if (start < chunk.length) this.#hold(this.#withinLimit(chunk.subarray(start)))
  }

  /** The stream ended: delivers an unterminated last line. */
  end(): void {
    if (this.#held > 0) this.#deliverHeld()
  }

  /** What may be added to the held bytes without passing the limit; raises or delivers the excess. */
  #withinLimit(part: Buffer): Buffer {
    const { limit, tooLong, what } = this.#options
    if (this.#held + part.length <= limit) return part
    if (tooLong === 'refuse') {
      // One CR over the limit may still turn out to belong to the terminator.
      if (this.#held + part.length === limit + 1 && (part.length === 0 || part.at(-1) === CR)) return part
      this.#refused = true
      this.#take()
      throw new LimitExceededError(what, limit)
    }
    let rest = part
    while (this.#held + rest.length > limit) {
      const room = limit - this.#held
      this.#hold(rest.subarray(0, room))
      this.#deliverHeld()
      rest = rest.subarray(room)
    }
    return rest
  }

  /** Doubling keeps a line that comes byte by byte linear, and its memory in proportion. */
  #hold(part: Buffer): void {
    const needed = this.#held + part.length
    if (needed > this.#buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#buffer.length, SMALLEST))
      this.#buffer.copy(larger, 0, 0, this.#held)
      this.#buffer = larger
    }
    part.copy(this.#buffer, this.#held)
    this.#held = needed
  }

  #deliverHeld(): void {
    this.#deliver(this.#take())
  }

  /** Gives the held bytes away: the receiver may keep them. */
  #take(): Buffer {
    const line = this.#buffer.subarray(0, this.#held)
    this.#buffer = EMPTY
    this.#held = 0
    return line
  }

  #deliver(line: Buffer): void {
    this.#options.onLine(line.at(-1) === CR ? line.subarray(0, -1) : line)
  }
}

/**
 * The text of a line, or undefined when its bytes are not UTF-8: a replacement character would change what the sender
 * said without anybody noticing. A byte order mark at the start is dropped.
 */
export function utf8Text(line: Buffer): string | undefined {
  if (!isUtf8(line)) return undefined
  const text = line.toString('utf8')
  return text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text
}

const LF = 0x0a
const CR = 0x0d
const BYTE_ORDER_MARK = 0xfeff
const SMALLEST = 1024
const EMPTY = Buffer.alloc(0)
