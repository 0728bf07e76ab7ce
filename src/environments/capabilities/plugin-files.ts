import { ConfigError, LimitExceededError, RpcError } from '../../errors.js'
import { EXEC_CODES } from '../../protocol/index.js'
import type { EnvironmentFiles } from '../environment.js'

/** The largest file of a plugin that is read, in bytes; what real executors read for a discovery. */
export const MOST_PLUGIN_FILE = 1024 * 1024

export interface FileText {
  /** Absolute, in the environment's own form. */
  readonly path: string
  readonly text: string
}

/**
 * A file of a plugin as text; undefined when there is none, or something else of that name.
 *
 * @throws ConfigError `too_large`, `not_utf8`; RpcError and what `EnvironmentFiles` raises
 */
export async function readPluginFile(
  files: EnvironmentFiles,
  path: string,
  signal: AbortSignal | undefined,
): Promise<FileText | undefined> {
  const found = await files.metadata(path, signal).catch((error: unknown) => {
    if (error instanceof RpcError && error.rpcCode === EXEC_CODES.notFound) return undefined
    throw error
  })
  if (!found?.isFile) return undefined
  // The size may be a lie: reading is bounded as well.
  if (found.size > MOST_PLUGIN_FILE) throw tooLarge(path)
  return { path, text: decoded(path, await bounded(files, path, signal)) }
}

/** The same for a text that came with an answer. */
export function checkedText({ path, text }: FileText): FileText {
  if (Buffer.byteLength(text) > MOST_PLUGIN_FILE) throw tooLarge(path)
  return { path, text: withoutMark(text) }
}

async function bounded(files: EnvironmentFiles, path: string, signal: AbortSignal | undefined): Promise<Buffer> {
  try {
    return await files.readFile(path, { limit: MOST_PLUGIN_FILE, ...(signal && { signal }) })
  } catch (error) {
    throw error instanceof LimitExceededError ? tooLarge(path) : error
  }
}

function decoded(path: string, bytes: Buffer): string {
  try {
    return withoutMark(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes))
  } catch (cause) {
    throw new ConfigError('not_utf8', 'is not valid UTF-8', { place: path, cause })
  }
}

function withoutMark(text: string): string {
  return text.startsWith('\ufeff') ? text.slice(1) : text
}

function tooLarge(path: string): ConfigError {
  return new ConfigError('too_large', `is larger than ${MOST_PLUGIN_FILE} bytes`, { place: path })
}
