import { optional } from '../optional.js'
import { isTable, type Raw } from '../source/raw.js'
import { matcherFault } from './matcher.js'
import type { BrokenHook, HookFilter } from './settings.js'

/** Groups hold lists of handlers: nothing of ours stands deeper. */
const DEPTH = 4

/**
 * Whether something that can't be read was to hold calls up when it fails. Any word but `allow` counts: whoever wrote
 * `"deny"` did not mean to let calls go on.
 */
export function holdsUp(value: Raw, depth = DEPTH): boolean {
  if (depth === 0) return false
  if (Array.isArray(value)) return value.some((item: Raw) => holdsUp(item, depth - 1))
  if (!isTable(value)) return false
  if (value.on_failure !== undefined && value.on_failure !== 'allow') return true
  return Object.values(value).some((item) => holdsUp(item, depth - 1))
}

/** Stands in for a hook that can't be read: it fails whenever it would have been run. */
export function brokenHook(place: string): BrokenHook {
  return { type: 'broken', reason: `its configuration is broken: ${place}`, timeoutMs: 1000, onFailure: 'block' }
}

/** As much of a group's filter as can be read. Without a matcher that is more calls, never fewer. */
export function readableFilter(group: Raw): HookFilter {
  if (!isTable(group)) return {}
  const { matcher, server, environment } = group
  return {
    ...optional('matcher', typeof matcher === 'string' && matcherFault(matcher) === undefined ? matcher : undefined),
    ...optional('server', typeof server === 'string' ? server : undefined),
    ...optional('environment', typeof environment === 'string' ? environment : undefined),
  }
}
