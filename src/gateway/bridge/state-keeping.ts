import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { readdir, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'

/** What makes a `requestState` good beyond the process that gave it out, and still once only. */
export interface StateKeeping {
  /** 32 bytes. */
  key(): Buffer
  /** False when this state was used, by whichever process. */
  use(id: string): boolean
  /** Nothing came of its use. */
  giveBack(id: string): void
}

/** States end with the process. */
export function keptInMemory(): StateKeeping {
  const key = randomBytes(KEY_BYTES)
  return { key: () => key, use: () => true, giveBack: () => undefined }
}

export interface KeptInOptions {
  /** Milliseconds for which a state is good; a used one is remembered as long. */
  readonly ttlMs: number
  /** The folder can't be used: states are good for this process alone then. */
  readonly onFault: (error: Error) => void
}

/**
 * Keeps the key in `<folder>/request-state.key`, which is 0600 and made whole in one step, and an empty file in
 * `<folder>/request-states/` for each state that was used, until it has expired. So a state outlives its process, and
 * processes of one folder accept it once between them.
 */
export function keptIn(folder: string, options: KeptInOptions): StateKeeping {
  return new FolderKeeping(folder, options)
}

class FolderKeeping implements StateKeeping {
  readonly #folder: string
  readonly #options: KeptInOptions
  readonly #used: string
  #key: Buffer | undefined
  #sweptAt = Number.NEGATIVE_INFINITY

  constructor(folder: string, options: KeptInOptions) {
    this.#folder = folder
    this.#options = options
    this.#used = join(folder, 'request-states')
  }

  key(): Buffer {
    this.#key ??= this.#attempt(() => loadOrCreateKey(this.#folder)) ?? randomBytes(KEY_BYTES)
    return this.#key
  }

  use(id: string): boolean {
    const isFirst = this.#attempt(() => {
      mkdirSync(this.#used, { recursive: true, mode: 0o700 })
      return createdNow(join(this.#used, id))
    })
    this.#sweep()
    // A use that can't be noted here is known to this process at least.
    return isFirst ?? true
  }

  giveBack(id: string): void {
    this.#attempt(() => unlinkSync(join(this.#used, id)))
  }

  #attempt<T>(work: () => T): T | undefined {
    try {
      return work()
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      this.#options.onFault(new Error(`can't keep request states in ${this.#folder}: ${reason}`, { cause: error }))
      return undefined
    }
  }

  /** Forgets uses that expiry protects by now; at most once in such a time. */
  #sweep(): void {
    const { ttlMs, onFault } = this.#options
    if (performance.now() - this.#sweptAt < ttlMs) return
    this.#sweptAt = performance.now()
    forgetUses(this.#used, Date.now() - ttlMs).catch((error: unknown) => {
      onFault(error instanceof Error ? error : new Error(String(error)))
    })
  }
}

/** False when the file was there already. */
function createdNow(path: string): boolean {
  try {
    closeSync(openSync(path, 'wx', 0o600))
    return true
  } catch (error) {
    if (isCode(error, 'EEXIST')) return false
    throw error
  }
}

async function forgetUses(folder: string, before: number): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name)
    try {
      if ((await stat(path)).mtimeMs < before) await unlink(path)
    } catch (error) {
      // Another process sweeps too.
      if (!isCode(error, 'ENOENT')) throw error
    }
  }
}

function loadOrCreateKey(folder: string): Buffer {
  const path = join(folder, 'request-state.key')
  const known = existingKey(path)
  if (known !== undefined) return known
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const key = randomBytes(KEY_BYTES)
  const draft = `${path}.${process.pid}.${randomBytes(6).toString('hex')}`
  writeWhole(draft, `${key.toString('base64url')}\n`)
  try {
    // Unlike rename, link never replaces the key of a process that was faster.
    linkSync(draft, path)
    return key
  } catch (error) {
    const theirs = isCode(error, 'EEXIST') ? existingKey(path) : undefined
    if (theirs === undefined) throw error
    return theirs
  } finally {
    unlinkSync(draft)
  }
}

/** A file that holds no key is of no use to anybody, and goes: only states of the last minutes are lost with it. */
function existingKey(path: string): Buffer | undefined {
  let text: string
  try {
    text = readFileSync(path, 'utf8').trim()
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined
    throw error
  }
  const key = Buffer.from(text, 'base64url')
  if (key.length !== KEY_BYTES || key.toString('base64url') !== text) {
    unlinkSync(path)
    return undefined
  }
  // Others can read it, from a copy or a careless umask: it is closed to them.
  if (process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600)
  return key
}

function writeWhole(path: string, text: string): void {
  const file = openSync(path, 'wx', 0o600)
  try {
    writeFileSync(file, text)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

const KEY_BYTES = 32
