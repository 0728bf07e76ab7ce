import { renameSync, statSync } from 'node:fs'

/** Bytes after which a log file is put aside. */
export const LOG_BYTES = 1024 * 1024

/** The path of a log to append to: one that has grown too long is kept beside it as `.1`, in place of the one before. */
export function rotated(file: string): string {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  if (size > LOG_BYTES) renameSync(file, `${file}.1`)
  return file
}
