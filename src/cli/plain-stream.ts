import { fstatSync, writeSync } from 'node:fs'
import type { TextStream } from './output.js'

/**
 * A standard stream without Node's machinery for it, which takes longer to set up than a listing takes to print. Only
 * for text that is written in one go: pipes, sockets and files are written to directly; anything else, and a pipe that
 * is full and does not block, goes through `whole`.
 *
 * @param broken called when the reader is gone
 */
export function plainStream(fd: number, whole: () => TextStream, broken: () => never): TextStream {
  if (!isPlain(fd)) return whole()
  return {
    write(chunk) {
      let rest = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
      try {
        while (rest.length > 0) rest = rest.subarray(writeSync(fd, rest))
      } catch (error) {
        if (!(error instanceof Error && 'code' in error)) throw error
        if (error.code === 'EPIPE') broken()
        if (error.code !== 'EAGAIN') throw error
        whole().write(rest)
      }
    },
  }
}

function isPlain(fd: number): boolean {
  try {
    const found = fstatSync(fd)
    return found.isFIFO() || found.isSocket() || found.isFile()
  } catch {
    // A closed descriptor: Node opens something in its place.
    return false
  }
}
