import type { JsonObject } from '../protocol/index.js'
import type { CacheHint } from './types.js'

/** What may be kept of a server that says nothing: nothing, for nobody else. */
export const KEEP_NOTHING: CacheHint = Object.freeze({ ttlMs: 0, cacheScope: 'private' })

/** The shortest time and the narrowest scope; a source without a hint counts as one that may not be kept. */
export function narrowestHint(hints: readonly (CacheHint | undefined)[]): CacheHint {
  if (hints.length === 0) return KEEP_NOTHING
  const known = hints.map((hint) => hint ?? KEEP_NOTHING)
  return {
    ttlMs: Math.min(...known.map(({ ttlMs }) => ttlMs)),
    cacheScope: known.every(({ cacheScope }) => cacheScope === 'public') ? 'public' : 'private',
  }
}

/** The hint of a modern result; undefined when it has none that is usable. */
export function readCacheHint({ ttlMs, cacheScope }: JsonObject): CacheHint | undefined {
  if (typeof ttlMs !== 'number' || !(ttlMs >= 0)) return undefined
  return { ttlMs, cacheScope: cacheScope === 'public' ? 'public' : 'private' }
}
