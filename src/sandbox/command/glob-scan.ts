import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { GlobPattern } from './glob-pattern.js'
import { locate } from './locate.js'

/** What a pattern matched: `real` is where it lies. */
export interface GlobMatch {
  readonly real: string
  readonly isFolder: boolean
}

/** Over these the pattern is refused: a search that was cut short would leave out what it denies. */
const MAX_LOOKED_AT = 500_000
const MAX_MATCHES = 2000

/**
 * Everything below the pattern's base that it matches now, hidden files included. A matching folder stands for all that it
 * holds. A matching link stands for the file that it leads to.
 *
 * @param base where the pattern's base really lies
 * @param maxDepth how many folders deep; 1 is the base alone
 */
export async function scanGlob(
  pattern: GlobPattern,
  base: string,
  maxDepth: number,
): Promise<readonly GlobMatch[] | { readonly fault: string }> {
  const matches: GlobMatch[] = []
  const folders: { readonly path: string; readonly depth: number }[] = [{ path: base, depth: 1 }]
  let looked = 0
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const items = await itemsOf(folder.path)
    if ('fault' in items) return items
    for (const item of items.entries) {
      looked += 1
      const path = join(folder.path, item.name)
      if (pattern.matches(`${pattern.base}${path.slice(base.length)}`)) {
        const match = await matchOf(path, item)
        if (match !== undefined && 'fault' in match) return match
        if (match !== undefined) matches.push(match)
      } else if (item.isDirectory() && folder.depth < maxDepth) {
        folders.push({ path, depth: folder.depth + 1 })
      }
    }
    if (looked > MAX_LOOKED_AT) return { fault: `its folder holds more than ${MAX_LOOKED_AT} files` }
    if (matches.length > MAX_MATCHES) return { fault: `it matches more than ${MAX_MATCHES} files` }
  }
  return matches
}

async function matchOf(path: string, item: Dirent): Promise<GlobMatch | undefined | { readonly fault: string }> {
  if (!item.isSymbolicLink()) return { real: path, isFolder: item.isDirectory() }
  const target = await locate(path)
  if (target.kind === 'missing') return undefined
  if (target.kind === 'found' && !target.isFolder) return { real: target.real, isFolder: false }
  return { fault: `it matches ${path}, a link to a folder or to nobody knows what` }
}

async function itemsOf(folder: string): Promise<{ readonly entries: readonly Dirent[] } | { readonly fault: string }> {
  try {
    return { entries: await readdir(folder, { withFileTypes: true }) }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    // Gone meanwhile. What we may not look into, the command, which is the same user, may not either.
    return code === 'ENOENT' || code === 'EACCES' ? { entries: [] } : { fault: `${folder}: ${code}` }
  }
}
