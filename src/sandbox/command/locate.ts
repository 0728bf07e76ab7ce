import { lstat, readlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** A symbolic link that a path goes through: where it really lies, and what it holds. */
export interface CrossedLink {
  readonly path: string
  readonly target: string
}

/**
 * Where a path leads now. `missing`: the first part of it that does not exist, in a folder that does. `unknown`: it can't
 * be told, since we may not look, or links go round in circles.
 */
export type Location =
  | {
      readonly kind: 'found'
      readonly real: string
      readonly isFolder: boolean
      readonly links: readonly CrossedLink[]
    }
  | { readonly kind: 'missing'; readonly first: string; readonly links: readonly CrossedLink[] }
  | { readonly kind: 'unknown'; readonly reason: string; readonly links: readonly CrossedLink[] }

/** As many as the kernel follows. */
const MAX_LINKS = 40

/** Follows an absolute, normalised path part by part, as the kernel does, and remembers the links on its way. */
export async function locate(path: string): Promise<Location> {
  const links: CrossedLink[] = []
  const parts = partsOf(path).reverse()
  let real = '/'
  let isFolder = true
  for (let part = parts.pop(); part !== undefined; part = parts.pop()) {
    if (part === '..') {
      real = dirname(real)
      continue
    }
    const next = join(real, part)
    // A file on the way: what is asked for can only come into being in its place.
    if (!isFolder) return { kind: 'missing', first: real, links }
    const found = await lookAt(next)
    if (found === 'missing') return { kind: 'missing', first: next, links }
    if ('reason' in found) return { kind: 'unknown', reason: found.reason, links }
    if (found.target === undefined) {
      real = next
      isFolder = found.isFolder
      continue
    }
    links.push({ path: next, target: found.target })
    if (links.length > MAX_LINKS) return { kind: 'unknown', reason: 'too many symbolic links', links }
    parts.push(...partsOf(found.target).reverse())
    if (found.target.startsWith('/')) real = '/'
    isFolder = true
  }
  return { kind: 'found', real, isFolder, links }
}

function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.')
}

type Look = 'missing' | { readonly isFolder: boolean; readonly target?: string } | { readonly reason: string }

async function lookAt(path: string): Promise<Look> {
  try {
    const stats = await lstat(path)
    return stats.isSymbolicLink()
      ? { isFolder: false, target: await readlink(path) }
      : { isFolder: stats.isDirectory() }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    return code === 'ENOENT' ? 'missing' : { reason: String(code ?? error) }
  }
}
