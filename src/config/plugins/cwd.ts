import { type posix, win32 } from 'node:path'
import { pathRules, within } from './paths.js'

/**
 * The working directory of a plugin's server, inside the plugin's root (reference: catalog, 7.2). Works on the paths of
 * the machine that the plugin is on, which need not be this one.
 *
 * @param cwd a relative path, an absolute one, or a `file:` URI.
 * @returns undefined when it leaves the root. Links are not followed here: the environment has them.
 */
export function cwdInside(root: string, cwd: string): string | undefined {
  const style = pathRules(root)
  const base = style.normalize(root)
  const path = style.resolve(base, pathOfUri(cwd, style) ?? cwd)
  return within(base, path) ? path : undefined
}

/** Relative paths joined to the root, others as they are; for plugins of the host. */
export function cwdJoined(root: string, cwd: string): string {
  const style = pathRules(root)
  return style.isAbsolute(cwd) ? cwd : style.join(root, cwd)
}

/** `file:///plugins/b`. */
export function rootUri(root: string): string {
  const path = root.replaceAll('\\', '/')
  return `file://${path.startsWith('/') ? '' : '/'}${path.split('/').map(encodePart).join('/')}`
}

function encodePart(part: string): string {
  return encodeURIComponent(part).replaceAll('%3A', ':')
}

function pathOfUri(cwd: string, style: typeof posix): string | undefined {
  if (!/^file:\/\//i.test(cwd) || !URL.canParse(cwd)) return undefined
  const path = decodedOrSame(new URL(cwd).pathname)
  return style === win32 ? path.replace(/^\/(?=[A-Za-z]:)/, '') : path
}

function decodedOrSame(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
