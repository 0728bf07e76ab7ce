import { closeSync, fstatSync, openSync, readFileSync, statSync } from 'node:fs'
import { ConfigError } from '../../errors.js'

/** Largest configuration file that is read, in bytes. Claude Code keeps histories in its file, so this is generous. */
export const MAX_CONFIG_BYTES = 16 * 1024 * 1024

/**
 * Reads a configuration file as text, without its byte order mark.
 *
 * @returns undefined when there is no such file.
 * @throws ConfigError `is_directory`, `not_a_file`, `too_large`, `binary_file`, `not_utf8`, `unreadable`.
 */
export function readConfigText(file: string): string | undefined {
  const text = readMarkedText(file)
  return text?.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text
}

export const BYTE_ORDER_MARK = '\ufeff'

/** The same with the byte order mark, for who writes it back. */
export function readMarkedText(file: string): string | undefined {
  let descriptor: number | undefined
  try {
    // Opening a pipe would wait for its writer: look before opening, and again at what was opened.
    refuseOddFile(file, statSync(file))
    descriptor = openSync(file, 'r')
    refuseOddFile(file, fstatSync(descriptor))
    return decode(file, readFileSync(descriptor))
  } catch (error) {
    if (error instanceof ConfigError) throw error
    const code = errnoOf(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw new ConfigError('unreadable', `cannot be read (${code ?? 'unknown error'})`, { place: file, cause: error })
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

/** The `code` of a file system error. */
export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}

interface FileFacts {
  isDirectory(): boolean
  isFile(): boolean
  readonly size: number
}

function refuseOddFile(file: string, facts: FileFacts): void {
  if (facts.isDirectory()) throw new ConfigError('is_directory', 'is a folder, not a file', { place: file })
  if (!facts.isFile()) throw new ConfigError('not_a_file', 'is no regular file', { place: file })
  if (facts.size > MAX_CONFIG_BYTES) {
    const limit = MAX_CONFIG_BYTES / 1024 / 1024
    throw new ConfigError('too_large', `is larger than ${limit} MiB`, { place: file, data: { bytes: facts.size } })
  }
}

function decode(file: string, bytes: Buffer): string {
  if (bytes.includes(0)) {
    const wide = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)
    throw new ConfigError('binary_file', wide ? 'is UTF-16: save it as UTF-8' : 'is a binary file', { place: file })
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw new ConfigError('not_utf8', 'is not valid UTF-8', { place: file, cause })
  }
}
