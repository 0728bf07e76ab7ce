import type { Style } from './style.js'
import { type Column, tableLines } from './table.js'

export type { Column } from './table.js'

/** Prints the result of a verb. */
export interface Output {
  /** One JSON document and a newline; laid out for people on a terminal only. For `--json`. */
  json(value: unknown): void
  /** One line, as it is. Text of others goes through `printable` or `oneLine` first. */
  line(text?: string): void
  /** An aligned table with titles; nothing when there are no rows. Cells are made safe. */
  table<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): void
  /** Bytes or text, as they are, without a newline. */
  raw(chunk: string | Uint8Array): void
  /** True when people look at it: text of others is then made safe, and long cells are cut. */
  readonly terminal: boolean
}

/** Tells what happens beside the result. */
export interface Diagnostics {
  /** A note. Nothing with `--quiet`. */
  line(text?: string): void
  /**
   * The state of something that takes time: one line that is overwritten on a terminal, lines elsewhere. Nothing with
   * `--quiet`, nor with `--json` where nobody looks on: what stands on stderr then is an error, as JSON.
   */
  progress(text: string): void
  /** `warning: …`, with `--quiet` too. */
  warn(text: string): void
  /** The last word of a verb that failed, with `--quiet` too. */
  error(text: string): void
  /** Takes the progress line off the terminal. */
  clear(): void
  readonly style: Style
}

/** As much of a `WriteStream` as printing needs. */
export interface TextStream {
  readonly isTTY?: boolean
  readonly columns?: number
  write(chunk: string | Uint8Array): unknown
}

/** `before` runs ahead of every write: it takes a progress line off the terminal. */
export function outputTo(stream: TextStream, style: Style, before: () => void): Output {
  const terminal = stream.isTTY === true
  const write = (chunk: string | Uint8Array): void => {
    before()
    stream.write(chunk)
  }
  return Object.freeze({
    terminal,
    json: (value: unknown) => write(`${JSON.stringify(value, null, terminal ? 2 : undefined)}\n`),
    line: (text = '') => write(`${text}\n`),
    raw: write,
    table<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): void {
      if (rows.length === 0) return
      const width = terminal ? stream.columns : undefined
      const lines = tableLines(rows, columns, { ...(width !== undefined && { width }), title: style.bold })
      write(`${lines.join('\n')}\n`)
    },
  })
}

export function diagnosticsTo(
  stream: TextStream,
  { quiet, transientOnly, style }: { readonly quiet: boolean; readonly transientOnly: boolean; readonly style: Style },
): Diagnostics {
  let transient = false
  const clear = (): void => {
    if (transient) stream.write('\r\u001b[K')
    transient = false
  }
  const write = (text: string): void => {
    clear()
    stream.write(`${text}\n`)
  }
  return Object.freeze({
    style,
    clear,
    line(text = '') {
      if (!quiet) write(text)
    },
    progress(text: string) {
      if (quiet) return
      if (stream.isTTY !== true) {
        if (!transientOnly) write(text)
        return
      }
      stream.write(`\r\u001b[K${style.dim(cutTo(text, stream.columns ?? 80))}`)
      transient = true
    },
    warn: (text: string) => write(`${style.yellow('warning:')} ${text}`),
    error: (text: string) => write(text),
  })
}

function cutTo(text: string, columns: number): string {
  return text.length < columns ? text : `${text.slice(0, Math.max(columns - 2, 1))}…`
}
