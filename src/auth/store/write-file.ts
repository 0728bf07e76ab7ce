import { randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/**
 * Replaces a file in one step, readable by its owner alone: others see the old text or the new one, and a full disk or a
 * crash leaves the old one.
 *
 * @throws what the system says
 */
export function replacePrivateFile(file: string, text: string): void {
  const draft = join(dirname(file), `.${basename(file)}.${randomBytes(6).toString('hex')}.tmp`)
  try {
    const descriptor = openSync(draft, 'wx', 0o600)
    try {
      const bytes = Buffer.from(text)
      for (let written = 0; written < bytes.length; ) written += writeSync(descriptor, bytes, written)
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
    renameSync(draft, file)
  } catch (cause) {
    rmSync(draft, { force: true })
    throw cause
  }
  syncFolder(dirname(file))
}

/** Makes the new name durable where folders can be synced; the file itself is, everywhere. */
function syncFolder(folder: string): void {
  let descriptor: number | undefined
  try {
    descriptor = openSync(folder, 'r')
    fsyncSync(descriptor)
  } catch {
    return
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

export function errnoOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
