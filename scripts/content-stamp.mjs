// A digest of what a set of files says, so that work is skipped by content, never by time: a checkout or a copy changes times.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative, sep } from 'node:path'

/**
 * SHA-256 over the names and contents of files and folders (recursive, sorted, `keep` filters files).
 * @param {string} root paths count from here
 * @param {readonly string[]} paths
 * @param {(path: string) => boolean} keep gets the path with forward slashes
 */
export function stampOf(root, paths, keep = () => true) {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}\n`)
  for (const file of paths.flatMap((path) => [...filesIn(join(root, path))])) {
    const name = relative(root, file).split(sep).join('/')
    if (!keep(name)) continue
    const content = readFileSync(file)
    hash.update(`${name} ${content.length}\n`).update(content)
  }
  return hash.digest('hex')
}

/** What was written by an earlier run, or undefined. */
export function readStamp(file) {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
    throw error
  }
}

function* filesIn(path) {
  if (!statSync(path).isDirectory()) return yield path
  for (const name of readdirSync(path).sort()) yield* filesIn(join(path, name))
}
