import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { PROTECTED_FOLDERS } from '../../permissions/index.js'
import { type Grant, normal } from './grants.js'
import type { Settled } from './settle.js'

/**
 * What stays read-only in the folders that may be written to, whether the profile says so or not: the protected folders,
 * and the repository that a `.git` file names. An entry of the profile for the same path counts instead.
 */
export async function protectedGrants(settled: readonly Settled[]): Promise<readonly Grant[]> {
  const named = new Set(settled.map(({ path }) => path))
  const grants: Grant[] = []
  for (const { path, access, isFolder, isMissing, place } of settled) {
    if (access !== 'write' || isMissing || !isFolder) continue
    for (const name of PROTECTED_FOLDERS) {
      const folder = join(path, name)
      if (named.has(folder)) continue
      grants.push({ path: folder, access: 'read', place })
      const repository = name === '.git' ? await repositoryOf(folder) : undefined
      if (repository !== undefined && !named.has(repository)) {
        grants.push({ path: repository, access: 'read', place })
      }
    }
  }
  return grants
}

/** A worktree or submodule has a file there: `gitdir: PATH`. */
async function repositoryOf(git: string): Promise<string | undefined> {
  try {
    const text = await readFile(git, 'utf8')
    const path = /^gitdir:[ \t]*([^\0\r\n]+?)[ \t]*(?:\r?\n|$)/.exec(text)?.[1]
    return path === undefined ? undefined : normal(resolve(git, '..', path))
  } catch {
    // A folder, as most are, or nothing; what can't be read is refused when its path is followed.
    return undefined
  }
}
