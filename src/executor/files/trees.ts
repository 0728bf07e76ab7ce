import { cp, lstat, mkdir, readdir, rm, rmdir, stat, unlink } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { EXEC_LIMITS, type ExecWalkResult } from '../../protocol/index.js'
import { internal, invalidRequest } from '../wire/fault.js'
import type { Params } from '../wire/params.js'
import { followed } from './content.js'
import type { FileWork } from './file-methods.js'

/** Folders with what is in them. */
export const treeMethods = {
  async createDirectory(params) {
    try {
      await mkdir(params.path('path'), { recursive: params.optionalFlag('recursive') ?? true })
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'EEXIST') throw internal(error.message)
      throw error
    }
    return {}
  },

  /** Recursive and forced unless told otherwise. A link is removed, not what it leads to. */
  async remove(params) {
    const path = params.path('path')
    const recursive = params.optionalFlag('recursive') ?? true
    const force = params.optionalFlag('force') ?? true
    if (recursive && !followed(params)) throw internal('followSymlinks: false goes with recursive: false only')
    if (recursive) await rm(path, { recursive, force })
    else await removeOne(path, force)
    return {}
  },

  async copy(params) {
    const [from, to, recursive] = [params.path('sourcePath'), params.path('destinationPath'), params.flag('recursive')]
    const facts = await lstat(from)
    if (facts.isDirectory() && !recursive) throw invalidRequest('a folder is copied with recursive: true only')
    if (facts.isDirectory() && `${to}${sep}`.startsWith(`${from}${sep}`))
      throw invalidRequest('a folder cannot be copied into itself')
    await cp(from, to, { recursive, verbatimSymlinks: true, force: true })
    return {}
  },

  async walk(params) {
    return walk(params.path('path'), limitsOf(params.group('options')))
  },
} satisfies Record<string, FileWork>

async function removeOne(path: string, force: boolean): Promise<void> {
  try {
    if ((await lstat(path)).isDirectory()) await rmdir(path)
    else await unlink(path)
  } catch (error) {
    if (!(force && error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
  }
}

interface WalkLimits {
  readonly depth: number
  readonly directories: number
  readonly entries: number
  readonly followLinks: boolean
  readonly pruneHidden: boolean
}

function limitsOf(options: Params): WalkLimits {
  return {
    depth: Math.min(options.count('maxDepth'), EXEC_LIMITS.walkDepth),
    directories: Math.min(options.count('maxDirectories'), EXEC_LIMITS.walkDirectories),
    entries: Math.min(options.count('maxEntries'), EXEC_LIMITS.walkEntries),
    followLinks: options.flag('followDirectorySymlinks'),
    pruneHidden: options.optionalFlag('pruneHiddenDirectories') ?? false,
  }
}

/** Breadth first, each folder sorted by name. The depth bounds links that lead in a circle. */
async function walk(root: string, limits: WalkLimits): Promise<ExecWalkResult> {
  const entries: { path: string; kind: 'file' | 'directory' }[] = []
  const errors: { path: string; message: string }[] = []
  const open = [{ path: root, depth: 0 }]
  let [directories, bytes, truncated] = [0, 0, false]
  if (!(await stat(root)).isDirectory()) throw invalidRequest('the path is not a directory')

  for (let next = open.shift(); next !== undefined; next = open.shift()) {
    if (directories === limits.directories) return { entries, errors, truncated: true }
    directories += 1
    for (const { path, kind } of await children(next.path, limits, errors)) {
      const uri = pathToFileURL(path).href
      bytes += uri.length
      if (entries.length === limits.entries || bytes > EXEC_LIMITS.walkBytes)
        return { entries, errors, truncated: true }
      entries.push({ path: uri, kind })
      if (kind !== 'directory') continue
      if (next.depth + 1 < limits.depth) open.push({ path, depth: next.depth + 1 })
      else truncated = true
    }
  }
  return { entries, errors, truncated }
}

async function children(
  folder: string,
  { followLinks, pruneHidden }: WalkLimits,
  errors: { path: string; message: string }[],
) {
  const found: { path: string; kind: 'file' | 'directory' }[] = []
  try {
    const listed = await readdir(folder, { withFileTypes: true })
    listed.sort((a, b) => (a.name < b.name ? -1 : 1))
    for (const entry of listed) {
      const path = join(folder, entry.name)
      const facts = entry.isSymbolicLink() ? await stat(path).catch(() => undefined) : entry
      if (facts?.isFile()) found.push({ path, kind: 'file' })
      if (!facts?.isDirectory() || (entry.isSymbolicLink() && !followLinks)) continue
      if (!(pruneHidden && entry.name.startsWith('.'))) found.push({ path, kind: 'directory' })
    }
  } catch (error) {
    errors.push({ path: pathToFileURL(folder).href, message: error instanceof Error ? error.message : 'unreadable' })
  }
  return found
}
