import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  type Stats,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** Only its owner may read a new file: it may hold secrets. */
const NEW_FILE_MODE = 0o600

/**
 * Replaces a file in one step: readers see the old or the new text, and a crash or a full disk leaves the old one.
 *
 * @param file its real path: a link would be replaced by the file.
 * @param like whose mode it gets, and whose owner when we may. Absent: readable by its owner alone.
 * @throws what the system says
 */
export function replaceFile(file: string, text: string, like?: Stats): void {
  const draft = join(dirname(file), `.${basename(file)}.${randomBytes(6).toString('hex')}.tmp`)
  try {
    writeDraft(draft, text, like)
    renameSync(draft, file)
  } catch (cause) {
    discard(draft)
    throw cause
  }
  syncFolder(dirname(file))
}

function writeDraft(draft: string, text: string, like: Stats | undefined): void {
  const descriptor = openSync(draft, 'wx', NEW_FILE_MODE)
  try {
    const bytes = Buffer.from(text)
    for (let written = 0; written < bytes.length; ) written += writeSync(descriptor, bytes, written)
    if (like !== undefined) {
      fchmodSync(descriptor, like.mode & 0o7777)
      if (process.getuid?.() === 0) fchownSync(descriptor, like.uid, like.gid)
    }
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Where not even that can be done, what failed first is what is told. */
function discard(draft: string): void {
  try {
    rmSync(draft, { force: true })
  } catch {
    return
  }
}

/** Makes the new name durable. Some file systems, and Windows, cannot sync a folder: the file itself is synced. */
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
