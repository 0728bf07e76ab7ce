import { UsageError } from './usage.js'

/** Longest time that a timer can hold; everything above would fire at once. */
const LONGEST_MS = 2 ** 31 - 1

/** `--timeout`: seconds, fractions allowed, as milliseconds. */
export function milliseconds(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const ms = /^\d+(?:\.\d+)?$/.test(text) ? Math.round(Number(text) * 1000) : Number.NaN
  if (!(ms > 0)) throw new UsageError(`${option} takes seconds above 0, like 2.5; got '${text}'`, { place: option })
  return Math.min(ms, LONGEST_MS)
}
