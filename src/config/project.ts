import { realpathSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { errnoOf } from './source/read-text.js'

/** Folder and name of a project's own configuration. */
export const PROJECT_CONFIG = join('.reeve', 'config.toml')

export interface Project {
  /** The folder that holds `.reeve`, absolute, links resolved. */
  readonly folder: string
  /** Its configuration file. */
  readonly file: string
}

/** The nearest folder at or above `cwd` with a `.reeve/config.toml` that isn't the user's own. */
export function findProject(cwd: string, home: string): Project | undefined {
  const own = realPath(home)
  for (let folder = realPath(cwd); ; folder = dirname(folder)) {
    const file = join(folder, PROJECT_CONFIG)
    if (exists(file) && realPath(dirname(file)) !== own) return { folder, file }
    if (dirname(folder) === folder) return undefined
  }
}

/** Absolute, with links resolved as far as the path exists. */
export function realPath(path: string): string {
  const absolute = resolve(path)
  try {
    return realpathSync(absolute)
  } catch {
    return absolute
  }
}

/** A folder that may not be searched holds no project of ours; a link that leads nowhere is told when it is read. */
function exists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    return errnoOf(error) === 'ELOOP'
  }
}

/** What the user says about a project's folder in `[projects]`, under any of its names; distrust beats trust. */
export function trustOf(
  folder: string,
  projects: ReadonlyMap<string, 'trusted' | 'untrusted'>,
): 'trusted' | 'untrusted' | undefined {
  const said = [...projects].flatMap(([path, trust]) => (realPath(path) === folder ? [trust] : []))
  return said.includes('untrusted') ? 'untrusted' : said[0]
}

/** One shell word. */
export function shellWord(text: string): string {
  if (/^[A-Za-z0-9_./:@%+,=-]+$/.test(text)) return text
  return process.platform === 'win32' ? `"${text}"` : `'${text.replaceAll("'", "'\\''")}'`
}
