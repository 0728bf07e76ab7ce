import type { Environment } from '../../environments/index.js'
import { CancelledError, FileParameterError, LimitExceededError, ReeveError } from '../../errors.js'
import { isAbsolutePath, pathRules } from '../../permissions/index.js'
import type { ExecMetadata } from '../../protocol/index.js'
import { type ReadAuthority, type Readable, readableUnder } from './readable.js'

/** Bytes of one file: all of it is held while it is read and sent. */
export const MAX_FILE_BYTES = 128 * 1024 * 1024

/** Characters of a path that a model gives; Linux opens none with more bytes. */
const MAX_PATH = 4096

/** Where files are read, and as whom. */
export interface OwnedFiles {
  readonly environment: Pick<Environment, 'id' | 'files' | 'pathStyle'>
  readonly authority: Pick<ReadAuthority, 'profile' | 'workspaceRoots'> & { readonly cwd: string | undefined }
  readonly limit?: number
}

/** A file that may be read, as it was when that was found. */
export interface OwnedFile {
  readonly name: string
  readonly size: number
  /** Its content, if it is still that file. */
  read(): Promise<Buffer>
}

/**
 * Finds a file that a model names, without reading it.
 *
 * @param place of errors: `server/tool argument`
 * @throws FileParameterError no plain file, not there, too large, or not the owner's to read
 */
export async function findOwned(
  path: string,
  { environment, authority, limit = MAX_FILE_BYTES }: OwnedFiles,
  place: string,
  signal: AbortSignal | undefined,
): Promise<OwnedFile> {
  const { files } = environment
  // Rules are matched against it and every folder above it: no system opens such a path, and looking would take very long.
  if (path.length > MAX_PATH) throw unreadable(`it has more than ${MAX_PATH} characters`, path, place)
  return await withFault(path, place, async () => {
    const style = await environment.pathStyle()
    const { cwd = '', profile, workspaceRoots } = authority
    // Of an environment that is not selected: nothing says where the roots of its profile are.
    if (profile !== null && cwd === '') throw unreadable('no folder of its environment is selected', path, place)
    const whole = isAbsolutePath(path, style)
    if (!whole && !isAbsolutePath(cwd, style)) throw unreadable('there is no folder to look for it in', path, place)
    const file = pathRules(style).resolve(whole ? path : pathRules(style).resolve(cwd, path))
    const mayRead = readableUnder({
      profile,
      cwd: cwd === '' ? pathRules(style).dirname(file) : cwd,
      workspaceRoots,
      style,
    })
    refuseDenied(mayRead, [file], path, place)
    const before = await files.metadata(file, signal)
    refuseOdd(before, limit, path, place)
    const real = await files.canonicalize(file, signal)
    refuseDenied(mayRead, [real], path, place)
    const read = async () => {
      const bytes = await files.readFile(real, { limit, ...(signal && { signal }) })
      const [after, still] = await Promise.all([files.metadata(file, signal), files.canonicalize(file, signal)])
      if (still !== real || bytes.length !== before.size || !isSame(before, after))
        throw new FileParameterError('file_changed', `${quoted(path)} changed while it was read`, { place })
      return bytes
    }
    return { name: pathRules(style).basename(file), size: before.size, read: () => withFault(path, place, read) }
  })
}

function refuseDenied(mayRead: Readable, paths: readonly string[], path: string, place: string): void {
  if (paths.every(mayRead)) return
  const message = `${quoted(path)} is not for this server: the permission profile of its environment does not let it be read`
  throw new FileParameterError('file_denied', message, { place })
}

function refuseOdd({ isFile, isSymlink, size }: ExecMetadata, limit: number, path: string, place: string): void {
  if (isSymlink) throw unreadable('it is a link', path, place)
  if (!isFile) throw unreadable('it is no plain file', path, place)
  if (size > limit) throw tooLarge(path, limit, place)
}

function isSame(before: ExecMetadata, after: ExecMetadata): boolean {
  return after.isFile && !after.isSymlink && after.size === before.size && after.modifiedAtMs === before.modifiedAtMs
}

/** What the environment says becomes an error of the argument. */
async function withFault<T>(path: string, place: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof FileParameterError || error instanceof CancelledError) throw error
    if (error instanceof LimitExceededError) throw tooLarge(path, MAX_FILE_BYTES, place)
    if (error instanceof ReeveError) throw unreadable(error.message, path, place, error)
    throw error
  }
}

function unreadable(why: string, path: string, place: string, cause?: unknown): FileParameterError {
  return new FileParameterError('file_unreadable', `${quoted(path)} can't be read: ${why}`, { place, cause })
}

function tooLarge(path: string, limit: number, place: string): FileParameterError {
  const message = `${quoted(path)} is larger than ${limit} bytes`
  return new FileParameterError('file_too_large', message, { place, data: { limit } })
}

function quoted(path: string): string {
  return `'${path.length > 500 ? `${path.slice(0, 500)}…` : path}'`
}
