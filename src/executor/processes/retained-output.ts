import { EXEC_LIMITS } from '../../protocol/index.js'

export type OutputStream = 'stdout' | 'stderr'

export interface OutputChunk {
  readonly seq: number
  readonly stream: OutputStream
  readonly bytes: Buffer
}

/** The last output of a process, for clients that come back. The oldest goes first. */
export class RetainedOutput {
  #chunks: OutputChunk[] = []
  /** Where the retained ones start: evicting one by one from a long array would be slow. */
  #first = 0
  #bytes = 0

  add(chunk: OutputChunk): void {
    this.#chunks.push(chunk)
    this.#bytes += chunk.bytes.length
    while (this.#bytes > EXEC_LIMITS.retainedBytes || this.#chunks.length - this.#first > EXEC_LIMITS.retainedChunks) {
      this.#bytes -= this.#chunks[this.#first]?.bytes.length ?? 0
      this.#first += 1
    }
    if (this.#first < COMPACT_FROM) return
    this.#chunks = this.#chunks.slice(this.#first)
    this.#first = 0
  }

  /** Chunks above `seq` up to about `maxBytes`: at least one where there is any. */
  after(seq: number, maxBytes = Number.POSITIVE_INFINITY): { readonly chunks: OutputChunk[]; readonly cut: boolean } {
    const chunks: OutputChunk[] = []
    let bytes = 0
    for (let at = this.#first; at < this.#chunks.length; at += 1) {
      const chunk = this.#chunks[at]
      if (chunk === undefined || chunk.seq <= seq) continue
      if (chunks.length > 0 && bytes + chunk.bytes.length > maxBytes) return { chunks, cut: true }
      chunks.push(chunk)
      bytes += chunk.bytes.length
    }
    return { chunks, cut: false }
  }

  has(seq: number): boolean {
    const last = this.#chunks.at(-1)
    return last !== undefined && last.seq > seq
  }
}

const COMPACT_FROM = 4096
