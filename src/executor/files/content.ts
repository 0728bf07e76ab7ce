import { constants } from 'node:fs'
import { lstat, open, readdir, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { EXEC_LIMITS, encodeBytes } from '../../protocol/index.js'
import { invalidRequest } from '../wire/fault.js'
import type { Params } from '../wire/params.js'
import type { FileWork } from './file-methods.js'

/** What fits into one answer as base64. */
const MOST_READ = EXEC_LIMITS.message * 0.7

/** Files and folders as wholes. */
export const contentMethods = {
  async readFile(params) {
    await using handle = await open(params.path('path'), constants.O_RDONLY | linkFlags(params))
    const facts = await handle.stat()
    if (!facts.isFile()) throw invalidRequest('the path is not a file')
    if (facts.size > MOST_READ) throw invalidRequest('the file is larger than a message may be: read it in blocks')
    return { dataBase64: encodeBytes(await handle.readFile()) }
  },

  async writeFile(params) {
    const data = params.bytes('dataBase64')
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | linkFlags(params)
    await using handle = await open(params.path('path'), flags, 0o666)
    await handle.writeFile(data)
    return {}
  },

  async getMetadata(params) {
    const path = params.path('path')
    const link = await lstat(path)
    const facts = link.isSymbolicLink() && followed(params) ? await stat(path) : link
    return {
      isDirectory: facts.isDirectory(),
      isFile: facts.isFile(),
      isSymlink: link.isSymbolicLink(),
      size: facts.size,
      createdAtMs: Math.max(0, Math.trunc(facts.birthtimeMs)),
      modifiedAtMs: Math.max(0, Math.trunc(facts.mtimeMs)),
    }
  },

  async canonicalize(params) {
    return { path: pathToFileURL(await realpath(params.path('path'))).href }
  },

  async readDirectory(params) {
    const folder = params.path('path')
    const found = await readdir(folder, { withFileTypes: true })
    if (found.length > EXEC_LIMITS.directoryEntries)
      throw invalidRequest(`the folder has more than ${EXEC_LIMITS.directoryEntries} entries`)
    const entries = []
    for (const entry of found) {
      // A link counts as what it leads to; one that leads nowhere is left out.
      const facts = entry.isSymbolicLink() ? await stat(join(folder, entry.name)).catch(() => undefined) : entry
      if (facts === undefined) continue
      entries.push({ fileName: entry.name, isDirectory: facts.isDirectory(), isFile: facts.isFile() })
    }
    return { entries }
  },
} satisfies Record<string, FileWork>

export function followed(params: Params): boolean {
  return params.optionalFlag('followSymlinks') ?? true
}

/** Without O_NONBLOCK a pipe without a writer would hold the connection for ever. Windows has neither flag. */
function linkFlags(params: Params): number {
  return (constants.O_NONBLOCK ?? 0) | (followed(params) ? 0 : (constants.O_NOFOLLOW ?? 0))
}
