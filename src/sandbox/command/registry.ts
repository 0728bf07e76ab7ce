import { lstat, mkdir, open, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { SandboxCommandError } from '../../errors.js'

/** A folder that sandboxes of one user share, and that only this user can reach. Never writable from inside of one. */
export interface Registry {
  readonly folder: string
  /** An empty file that nobody may read: what a denied file looks like. */
  readonly deniedFile: string
  /** The name of the lock that goes with it. */
  readonly lock: string
}

/** Opens the registry of this user, which is always in the same place. Throws `SandboxCommandError` when it isn't ours. */
export async function openRegistry(parent = '/tmp', uid = process.getuid?.() ?? 0): Promise<Registry> {
  const folder = join(await realpath(parent), `reeve-sandbox-${uid}`)
  await mkdir(folder, { mode: 0o700 }).catch(unlessThere)
  const stats = await lstat(folder)
  if (!stats.isDirectory() || stats.uid !== uid || (stats.mode & 0o077) !== 0) {
    throw new SandboxCommandError('sandbox_failed', `${folder} belongs to someone else, or is open to others`)
  }
  const deniedFile = join(folder, 'denied')
  const handle = await open(deniedFile, 'wx', 0o000).catch(unlessThere)
  await handle?.close()
  return { folder, deniedFile, lock: folder }
}

function unlessThere(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'EEXIST') {
    throw new SandboxCommandError('sandbox_failed', `no folder for sandboxes: ${error.message}`, { cause: error })
  }
}
