/** Bytes held for a slow reader before the socket is paused. */
const HIGH_WATER = 256 * 1024

type End = { readonly error?: Error }

/**
 * The chunks of one response between socket and reader. `push` says whether the reader keeps up; `onread` tells the
 * producer to go on. A reader that leaves early (`break`, `return`) cancels the rest.
 */
export class ResponseBody implements AsyncIterable<Buffer> {
  onread: (() => void) | undefined
  oncancel: (() => void) | undefined
  readonly #chunks: Buffer[] = []
  #held = 0
  #end: End | undefined
  #wake: (() => void) | undefined

  push(chunk: Buffer): boolean {
    if (this.#end !== undefined) return true
    this.#chunks.push(chunk)
    this.#held += chunk.length
    this.#wake?.()
    return this.#held < HIGH_WATER
  }

  /** Nothing more comes. With an error, the reader gets what was pushed first and then the error. */
  finish(error?: Error): void {
    if (this.#end !== undefined) return
    this.#end = error === undefined ? {} : { error }
    this.#wake?.()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer, void, void> {
    let complete = false
    try {
      for (;;) {
        const chunk = this.#chunks.shift()
        if (chunk !== undefined) {
          this.#held -= chunk.length
          if (this.#held < HIGH_WATER) this.onread?.()
          yield chunk
        } else if (this.#end === undefined) {
          await new Promise<void>((resolve) => {
            this.#wake = resolve
          })
          this.#wake = undefined
        } else {
          complete = true
          if (this.#end.error !== undefined) throw this.#end.error
          return
        }
      }
    } finally {
      if (!complete) this.oncancel?.()
    }
  }
}
