import { InvalidArgumentsError, LimitExceededError, ProtocolViolationError } from '../../errors.js'
import {
  decodeBytes,
  EXEC_LIMITS,
  EXEC_METHODS,
  type ExecDirectoryEntry,
  type ExecMetadata,
  type ExecPathStyle,
  encodeBytes,
  fileUriOf,
  pathOfFileUri,
} from '../../protocol/index.js'
import { countOf, flagOf, listOf, memberOf, textOf } from './answers.js'
import type { Link } from './link.js'
import type { LinkPool } from './pool.js'

export interface ReadFileOptions {
  /** A larger file raises `LimitExceededError`; 16 MiB. */
  readonly limit?: number
  readonly signal?: AbortSignal
}

/**
 * Files of the executor (reference: executor-protocol, 8). Paths are absolute, in the executor's style. Raises
 * `InvalidArgumentsError` for other paths, `RpcError` (-32004: not there; -32600: not of that kind, or not allowed),
 * `EnvironmentError`, `ProtocolViolationError`.
 */
export class RemoteFiles {
  readonly #pool: LinkPool
  readonly #style: () => Promise<ExecPathStyle>
  readonly #sandbox: { readonly sandbox?: object }
  #lastHandle = 0

  /** @param sandbox what every question is asked in */
  constructor(pool: LinkPool, style: () => Promise<ExecPathStyle>, sandbox?: object) {
    this.#pool = pool
    this.#style = style
    this.#sandbox = sandbox === undefined ? {} : { sandbox }
  }

  /** In blocks, so that a file that is larger than it said is noticed before it is all here. */
  async readFile(path: string, { limit = 16 * 1024 * 1024, signal }: ReadFileOptions = {}): Promise<Buffer> {
    const uri = await this.#uri(path)
    this.#lastHandle += 1
    const handleId = `file-${this.#lastHandle}`
    return this.#pool.use(async (link) => {
      await link.call(EXEC_METHODS.open, { handleId, path: uri, mode: 'read', ...this.#sandbox }, call(signal))
      try {
        return await readBlocks(link, handleId, path, limit, signal)
      } finally {
        if (link.open) await link.call(EXEC_METHODS.close, { handleId }, call())
      }
    }, signal)
  }

  async writeFile(path: string, bytes: Uint8Array | string, signal?: AbortSignal): Promise<void> {
    await this.#ask(EXEC_METHODS.writeFile, { path: await this.#uri(path), dataBase64: encodeBytes(bytes) }, signal)
  }

  async metadata(path: string, signal?: AbortSignal): Promise<ExecMetadata> {
    const found = await this.#ask(EXEC_METHODS.getMetadata, { path: await this.#uri(path) }, signal)
    return Object.freeze({
      isDirectory: flagOf(found, 'isDirectory', path),
      isFile: flagOf(found, 'isFile', path),
      isSymlink: flagOf(found, 'isSymlink', path),
      size: countOf(found, 'size', path),
      createdAtMs: timeOf(found, 'createdAtMs'),
      modifiedAtMs: timeOf(found, 'modifiedAtMs'),
    })
  }

  /** Names are single names: one with a separator in it raises. */
  async readDirectory(path: string, signal?: AbortSignal): Promise<readonly ExecDirectoryEntry[]> {
    const found = await this.#ask(EXEC_METHODS.readDirectory, { path: await this.#uri(path) }, signal)
    const entries = listOf(found, 'entries', path)
    if (entries.length > EXEC_LIMITS.directoryEntries)
      throw new LimitExceededError(`the folder ${path}`, EXEC_LIMITS.directoryEntries)
    const separator = (await this.#style()) === 'windows' ? /[\\/\0]/ : /[/\0]/
    return entries.map((entry) => {
      const fileName = textOf(entry, 'fileName', path)
      if (separator.test(fileName) || fileName === '' || fileName === '.' || fileName === '..')
        throw new ProtocolViolationError(`the folder ${path} lists something that is no file name`, { place: path })
      return Object.freeze({
        fileName,
        isDirectory: flagOf(entry, 'isDirectory', path),
        isFile: flagOf(entry, 'isFile', path),
      })
    })
  }

  /** Where the path leads once every link is followed. */
  async canonicalize(path: string, signal?: AbortSignal): Promise<string> {
    const found = await this.#ask(EXEC_METHODS.canonicalize, { path: await this.#uri(path) }, signal)
    const real = pathOfFileUri(memberOf(found, 'path'), await this.#style())
    if (real === undefined) throw new ProtocolViolationError(`the executor names no path for ${path}`, { place: path })
    return real
  }

  async createDirectory(path: string, signal?: AbortSignal): Promise<void> {
    await this.#ask(EXEC_METHODS.createDirectory, { path: await this.#uri(path), recursive: true }, signal)
  }

  /** One file or link, or with `recursive` a whole folder: the protocol's own default is never used. */
  async remove(
    path: string,
    { recursive = false, signal }: { recursive?: boolean; signal?: AbortSignal } = {},
  ): Promise<void> {
    await this.#ask(EXEC_METHODS.remove, { path: await this.#uri(path), recursive, force: false }, signal)
  }

  #ask(method: string, params: object, signal: AbortSignal | undefined): Promise<unknown> {
    return this.#pool.use((link) => link.call(method, { ...params, ...this.#sandbox }, call(signal)), signal)
  }

  async #uri(path: string): Promise<string> {
    const uri = fileUriOf(path, await this.#style())
    if (uri === undefined) throw new InvalidArgumentsError(`'${path}' is no absolute path there`, { place: path })
    return uri
  }
}

async function readBlocks(
  link: Link,
  handleId: string,
  path: string,
  limit: number,
  signal: AbortSignal | undefined,
): Promise<Buffer> {
  const blocks: Buffer[] = []
  let offset = 0
  for (;;) {
    const params = { handleId, offset, len: EXEC_LIMITS.fileBlock }
    const answer = await link.call(EXEC_METHODS.readBlock, params, call(signal))
    const block = decodeBytes(memberOf(answer, 'chunk'))
    const eof = flagOf(answer, 'eof', path)
    if (block === undefined || (block.length === 0 && !eof))
      throw new ProtocolViolationError(`the executor answered a read of ${path} without bytes`, { place: path })
    offset += block.length
    if (offset > limit) throw new LimitExceededError(`the file ${path}`, limit, { place: path })
    blocks.push(block)
    if (eof) return Buffer.concat(blocks)
  }
}

/** Some systems have no birth time, and some files are older than 1970. */
function timeOf(value: unknown, name: string): number {
  const time = memberOf(value, name)
  return typeof time === 'number' && Number.isFinite(time) ? time : 0
}

function call(signal?: AbortSignal): { timeoutMs: number; signal?: AbortSignal } {
  return { timeoutMs: EXEC_LIMITS.infoMs, ...(signal && { signal }) }
}
