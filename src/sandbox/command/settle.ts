import { dirname } from 'node:path'
import type { Grant } from './grants.js'
import { type CrossedLink, locate } from './locate.js'
import { unenforceable } from './unenforceable.js'
import { isWithin } from './within.js'

export type Access = Grant['access']

/** A grant whose path was followed to where it lies. */
export interface Settled {
  readonly path: string
  readonly access: Access
  readonly place: string
  readonly isFolder: boolean
  /** The path does not exist: `path` is the first part of it that does not. */
  readonly isMissing: boolean
  readonly links: readonly CrossedLink[]
}

/** Of two entries for one path the stricter counts, but `write` beats `read` (reference: authority, 8). */
const PRECEDENCE: Readonly<Record<Access, number>> = { read: 0, write: 1, deny: 2 }

/** Follows each grant to where it really lies. Throws `SandboxCommandError` for one that can't be followed with certainty. */
export async function settle(grants: readonly Grant[]): Promise<readonly Settled[]> {
  const settled: Settled[] = []
  for (const { path, access, place } of grants) {
    const found = await locate(path)
    if (found.kind === 'unknown') {
      // What can't be reached grants nothing; whether it takes something away can't be told.
      if (access !== 'write') throw unenforceable(`\`${path}\`: ${found.reason}`, place)
      continue
    }
    const { links } = found
    if (found.kind === 'found') {
      settled.push({ path: found.real, access, place, isFolder: found.isFolder, isMissing: false, links })
    } else if (access !== 'write') {
      settled.push({ path: found.first, access, place, isFolder: true, isMissing: true, links })
    }
  }
  return settled
}

/**
 * Refuses an entry whose path goes through a link in a folder that may be written to: the command, or one that ran before
 * it, decides where such a path leads.
 */
export function refuseUnsteadyPaths(settled: readonly Settled[]): void {
  const writable = settled.filter(({ access, isMissing }) => access === 'write' && !isMissing)
  for (const { links, place } of settled) {
    for (const link of links) {
      if (writable.some(({ path }) => path !== link.path && isWithin(link.path, path))) {
        throw unenforceable(`\`${link.path}\` is a symbolic link in a folder that may be written to`, place)
      }
    }
  }
}

/**
 * Refuses a grant that leads through a link to what nothing else lets be read: where only what is named is there, its files
 * would be had by their own names too, which nobody named. Links that lie in `/` are the system's own.
 */
export function refuseOtherNames(settled: readonly Settled[]): void {
  const allowed = settled.filter(({ access, isMissing }) => access !== 'deny' && !isMissing)
  const steady = allowed.filter(({ links }) => links.every(isOfSystem))
  for (const { path, links, place } of allowed) {
    const link = links.find((one) => !isOfSystem(one))
    if (link === undefined || steady.some((other) => isWithin(path, other.path))) continue
    const message = `\`${link.path}\` is a symbolic link: name \`${path}\`, where it leads, which nothing else lets be read`
    throw unenforceable(message, place)
  }
}

function isOfSystem({ path }: CrossedLink): boolean {
  return dirname(path) === '/'
}

/** One entry a path: what exists, by what counts of it; what is missing, once. */
export function onePerPath(settled: readonly Settled[]): readonly Settled[] {
  const found = new Map<string, Settled>()
  for (const one of settled) {
    const before = found.get(one.path)
    const counts = before === undefined || (before.isMissing && !one.isMissing)
    if (counts || (before.isMissing === one.isMissing && PRECEDENCE[one.access] > PRECEDENCE[before.access])) {
      found.set(one.path, one)
    }
  }
  return [...found.values()]
}
