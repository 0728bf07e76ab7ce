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
  statSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { ConfigError } from '../../errors.js'
import { errnoOf } from '../source/read-text.js'

/** Only its owner may read a configuration: it may hold secrets. */
const NEW_FILE_MODE = 0o600

/**
 * Replaces a file in one step: readers see the old or the new text, and a crash or a full disk leaves the old one. Keeps
 * its mode, and its owner when we may.
 *
 * @param file its real path: a link would be replaced by the file.
 * @throws ConfigError `unwritable`.
 */
export function replaceFile(file: string, text: string): void {
  const before = statSync(file, { throwIfNoEntry: false })
  const draft = join(dirname(file), `.${basename(file)}.${randomBytes(6).toString('hex')}.tmp`)
  try {
    writeDraft(draft, text, before)
    renameSync(draft, file)
    syncFolder(dirname(file))
  } catch (cause) {
    rmSync(draft, { force: true })
    throw new ConfigError('unwritable', `cannot be written (${errnoOf(cause) ?? String(cause)})`, {
      place: file,
      cause,
    })
  }
}

function writeDraft(draft: string, text: string, before: Stats | undefined): void {
  const descriptor = openSync(draft, 'wx', NEW_FILE_MODE)
  try {
    const bytes = Buffer.from(text)
    for (let written = 0; written < bytes.length; ) written += writeSync(descriptor, bytes, written)
    if (before !== undefined) {
      fchmodSync(descriptor, before.mode & 0o7777)
      if (process.getuid?.() === 0) fchownSync(descriptor, before.uid, before.gid)
    }
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
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
