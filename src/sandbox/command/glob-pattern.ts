import { join } from 'node:path'

/** A pattern, ready to be compared; `base` has no wildcard, and everything that matches lies in it. */
export interface GlobPattern {
  readonly base: string
  /** `path` is absolute, normalised, in `base`. */
  matches(path: string): boolean
}

/**
 * Reads a pattern of paths: `*` and `?` within a name, `[a-z]` and `[!a-z]`, and `**` for any number of folders. Gives the
 * reason when it can't be read with certainty: what a pattern denies must not depend on a guess.
 *
 * @param cwd where a relative one starts; its own characters stand for themselves
 */
export function readGlob(pattern: string, cwd: string): GlobPattern | { readonly fault: string } {
  const isAbsolute = pattern.startsWith('/')
  const names = (isAbsolute ? pattern.slice(1) : pattern).split('/').filter((name) => name !== '.')
  if (/[{}\\]/.test(pattern)) return { fault: 'braces and backslashes are not supported' }
  if (names.some((name) => name === '' || name === '..')) {
    return { fault: 'it has an empty name or `..`' }
  }
  const wild = names.findIndex((name) => /[*?[\]]/.test(name))
  if (wild === -1) return { fault: 'it has no wildcard: an entry of type path says the same' }
  const base = join(isAbsolute ? '/' : cwd, ...names.slice(0, wild))
  if (base === '/') return { fault: 'it would search the whole file system: begin with a folder' }
  const parts = names.slice(wild).map(namePattern)
  const bad = parts.indexOf(undefined)
  if (bad !== -1) return { fault: `\`${names[wild + bad]}\` is no pattern` }
  const expression = new RegExp(`^${parts.map(joined).join('')}$`, 'su')
  return { base, matches: (path) => expression.test(path.slice(base.length)) }
}

const ANY_FOLDERS = Symbol('**')

function namePattern(name: string): string | typeof ANY_FOLDERS | undefined {
  if (name === '**') return ANY_FOLDERS
  if (name.includes('**')) return undefined
  let source = ''
  let rest = name
  while (rest !== '') {
    const set = /^\[(!|\^)?(\]?[^\]]*)\]/u.exec(rest)
    if (set !== null) {
      const [whole, not, members = ''] = set
      if (members === '') return undefined
      const inside = members.replace(/[[\]^\\|]/gu, '\\$&')
      if (!isSet(inside)) return undefined
      source += `(?!/)[${not === undefined ? '' : '^'}${inside}]`
      rest = rest.slice(whole.length)
      continue
    }
    const [character = ''] = rest
    if (character === '[' || character === ']') return undefined
    source += character === '*' ? '[^/]*' : character === '?' ? '[^/]' : character.replace(/[\^$.()|+/]/u, '\\$&')
    rest = rest.slice(character.length)
  }
  return source
}

function joined(part: string | typeof ANY_FOLDERS | undefined, index: number, all: readonly unknown[]): string {
  if (part !== ANY_FOLDERS) return `/${String(part)}`
  return index === all.length - 1 ? '/.+' : '(?:/[^/]+)*'
}

/** A range that runs backwards is none. */
function isSet(inside: string): boolean {
  try {
    new RegExp(`[${inside}]`, 'u')
    return true
  } catch {
    return false
  }
}
