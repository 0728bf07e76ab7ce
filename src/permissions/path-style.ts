import { posix, win32 } from 'node:path'

/** The path rules of the environment that a profile governs, which need not be those of this machine. */
export type PathStyle = 'posix' | 'windows'

export function pathRules(style: PathStyle): typeof posix {
  return style === 'windows' ? win32 : posix
}

/** Absolute on its own: `\dir` depends on the current drive, so it is not. */
export function isAbsolutePath(path: string, style: PathStyle): boolean {
  const rules = pathRules(style)
  return rules.isAbsolute(path) && (style === 'posix' || rules.parse(path).root.length > 1)
}
