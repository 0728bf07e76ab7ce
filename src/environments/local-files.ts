import { type FileHandle, lstat, mkdir, open, readdir, realpath, stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { CancelledError, InvalidArgumentsError, LimitExceededError, RpcError } from '../errors.js'
import { EXEC_CODES, EXEC_LIMITS, type ExecDirectoryEntry, type ExecMetadata } from '../protocol/index.js'
import type { EnvironmentFiles } from './environment.js'

/** The host's own files, with the errors that an executor would answer with. */
export const localFiles: EnvironmentFiles = {
  async readFile(path, { limit = 16 * 1024 * 1024, signal } = {}) {
    return withFaults(path, signal, async () => {
      const file = await open(path, 'r')
      try {
        return await readWhole(file, path, limit)
      } finally {
        await file.close()
      }
    })
  },

  async metadata(path, signal): Promise<ExecMetadata> {
    return withFaults(path, signal, async () => {
      const [own, target] = await Promise.all([lstat(path), stat(path)])
      return Object.freeze({
        isDirectory: target.isDirectory(),
        isFile: target.isFile(),
        isSymlink: own.isSymbolicLink(),
        size: target.size,
        createdAtMs: target.birthtimeMs,
        modifiedAtMs: target.mtimeMs,
      })
    })
  },

  async readDirectory(path, signal): Promise<readonly ExecDirectoryEntry[]> {
    const entries = await withFaults(path, signal, () => readdir(path, { withFileTypes: true }))
    if (entries.length > EXEC_LIMITS.directoryEntries)
      throw new LimitExceededError(`the folder ${path}`, EXEC_LIMITS.directoryEntries)
    return entries.map((entry) =>
      Object.freeze({ fileName: entry.name, isDirectory: entry.isDirectory(), isFile: entry.isFile() }),
    )
  },

  async canonicalize(path, signal) {
    return withFaults(path, signal, () => realpath(path))
  },

  async createDirectory(path, signal) {
    await withFaults(path, signal, () => mkdir(path, { recursive: true }))
  },
}

async function readWhole(file: FileHandle, path: string, limit: number): Promise<Buffer> {
  if (!(await file.stat()).isFile()) throw new RpcError(EXEC_CODES.invalidRequest, `no file: ${path}`)
  const blocks: Buffer[] = []
  let size = 0
  for (;;) {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(EXEC_LIMITS.fileBlock) })
    if (bytesRead === 0) return Buffer.concat(blocks)
    size += bytesRead
    if (size > limit) throw new LimitExceededError(`the file ${path}`, limit, { place: path })
    blocks.push(buffer.subarray(0, bytesRead))
  }
}

async function withFaults<T>(path: string, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  if (!isAbsolute(path) || path.includes('\0'))
    throw new InvalidArgumentsError(`'${path}' is no absolute path`, { place: path })
  if (signal?.aborted) throw new CancelledError()
  try {
    return await work()
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (typeof code !== 'string' || error instanceof RpcError || error instanceof LimitExceededError) throw error
    throw new RpcError(code === 'ENOENT' ? EXEC_CODES.notFound : EXEC_CODES.invalidRequest, `${path}: ${code}`)
  }
}
