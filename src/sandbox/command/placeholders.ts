import { createHash, randomBytes } from 'node:crypto'
import { lstat, mkdir, readdir, readFile, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SandboxCommandError } from '../../errors.js'
import { withLock } from './lock.js'
import type { Registry } from './registry.js'

/**
 * Something can only be mounted where a folder is. What must not come into being in a writable folder therefore gets an
 * empty one for as long as a sandbox needs it. Several sandboxes may need the same: each leaves a claim in the registry, and
 * the last one takes the folder away. Claims of processes that were killed count for nothing.
 */
export interface Placeholders extends AsyncDisposable {
  /** What is at each path now: an empty folder of ours, something real, or nothing, since it can't be made here. */
  readonly found: ReadonlyMap<string, 'placeholder' | 'real' | 'nothing'>
}

const MADE = 'made'

/**
 * Sees to it that something is at each path, and stays there until the result is disposed of. The command is the same
 * user, so that it can't make what can't be made here.
 *
 * @param paths what is missing, and folders that may be placeholders of other sandboxes; in folders that exist
 * @throws SandboxCommandError
 */
export async function makePlaceholders(registry: Registry, paths: readonly string[]): Promise<Placeholders> {
  const owner = `${process.pid}.${await startOf(process.pid)}.${randomBytes(4).toString('hex')}`
  const found = new Map<string, 'placeholder' | 'real' | 'nothing'>()
  const placeholders: AsyncDisposable & Placeholders = {
    found,
    async [Symbol.asyncDispose]() {
      const claimed = [...found].filter(([, what]) => what === 'placeholder')
      if (claimed.length === 0) return
      await withLock(registry.lock, async () => {
        for (const [path] of claimed) await release(path, claimsOf(registry, path), owner)
      })
    },
  }
  try {
    await withLock(registry.lock, async () => {
      await removeAbandoned(registry)
      for (const path of paths) {
        const claims = claimsOf(registry, path)
        const what = await whatIsAt(path, claims)
        found.set(path, what)
        if (what === 'placeholder') await writeFile(join(claims, owner), '')
      }
    })
    return placeholders
  } catch (error) {
    await placeholders[Symbol.asyncDispose]()
    throw error
  }
}

async function whatIsAt(path: string, claims: string): Promise<'placeholder' | 'real' | 'nothing'> {
  try {
    await mkdir(path)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code === 'EEXIST') return isPlaceholder(path, claims)
    if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') return 'nothing'
    throw new SandboxCommandError('sandbox_failed', `${path} can't be kept from being made`, { cause: error })
  }
  await mkdir(claims, { recursive: true, mode: 0o700 })
  await writeFile(join(claims, MADE), path)
  return 'placeholder'
}

async function isPlaceholder(path: string, claims: string): Promise<'placeholder' | 'real'> {
  if ((await lstat(path)).isSymbolicLink()) {
    throw new SandboxCommandError('sandbox_failed', `${path} became a symbolic link meanwhile`)
  }
  return (await exists(join(claims, MADE))) ? 'placeholder' : 'real'
}

/** What sandboxes left that were killed, wherever it is. */
async function removeAbandoned({ folder }: Registry): Promise<void> {
  for (const name of await readdir(join(folder, 'claims')).catch(() => [])) {
    const claims = join(folder, 'claims', name)
    const path = await readFile(join(claims, MADE), 'utf8').catch(() => undefined)
    if (path !== undefined) await release(path, claims)
  }
}

/** Removes only what is empty: a folder that somebody has put something into is theirs now. */
async function release(path: string, claims: string, owner?: string): Promise<void> {
  if (owner !== undefined) await rm(join(claims, owner), { force: true })
  for (const claim of await readdir(claims).catch(() => [])) {
    if (claim === MADE) continue
    if (await isAlive(claim)) return
    await rm(join(claims, claim), { force: true })
  }
  if (await isSettled(path)) await rm(claims, { recursive: true, force: true })
}

/** What can't be removed now (the command may have closed its folder) stays marked as ours, for the next sandbox to remove. */
async function isSettled(path: string): Promise<boolean> {
  try {
    await rmdir(path)
    return true
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    return code === 'ENOENT' || code === 'ENOTEMPTY' || code === 'ENOTDIR'
  }
}

function claimsOf(registry: Registry, path: string): string {
  return join(registry.folder, 'claims', createHash('sha256').update(path).digest('hex').slice(0, 32))
}

async function isAlive(claim: string): Promise<boolean> {
  const [pid = '', start = ''] = claim.split('.')
  const now = await startOf(Number(pid))
  return now !== undefined && now === start
}

/** When a process started, in the kernel's ticks; undefined when it is gone. Process ids come again, these times don't. */
async function startOf(pid: number): Promise<string | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  // The name, in brackets, may hold anything.
  return text?.slice(text.lastIndexOf(')') + 2).split(' ')[19]
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
