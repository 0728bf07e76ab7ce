import { posix, win32 } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** The path rules of the executor's system, which need not be ours. */
export type ExecPathStyle = 'posix' | 'windows'

/** The style of a `platformOs`; what is not Windows is POSIX. */
export function execPathStyle(platformOs: string | null | undefined): ExecPathStyle {
  return platformOs?.toLowerCase() === 'windows' ? 'windows' : 'posix'
}

/** The `file:` URI of an absolute path; undefined when it is relative, or no URI can carry it. */
export function fileUriOf(path: string, style: ExecPathStyle): string | undefined {
  const rules = style === 'windows' ? win32 : posix
  if (!rules.isAbsolute(path) || path.includes('\0') || LONE_SURROGATE.test(path)) return undefined
  // `\dir` depends on the current drive, which only the executor knows.
  if (style === 'windows' && rules.parse(path).root.length < 2) return undefined
  try {
    return pathToFileURL(path, { windows: style === 'windows' }).href
  } catch {
    return undefined
  }
}

/** The absolute path of a `file:` URI; undefined when it is none, names a host on POSIX, or hides a separator. */
export function pathOfFileUri(uri: unknown, style: ExecPathStyle): string | undefined {
  if (typeof uri !== 'string' || !/^file:\/\//i.test(uri)) return undefined
  try {
    const path = fileURLToPath(uri, { windows: style === 'windows' })
    return path.includes('\0') ? undefined : path
  } catch {
    return undefined
  }
}

const LONE_SURROGATE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/
