import { UsageError } from './usage.js'

const UNITS: ReadonlyMap<string, number> = new Map([
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
])

/** A time in the past: `15m`, `2h`, `7d`, or a date with or without a time of day. Milliseconds since 1970. */
export function since(option: string, text: string, now: number): number {
  const [, count, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? []
  if (count !== undefined) return now - Number(count) * (UNITS.get(unit) ?? 0)
  const at = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(at))
    throw new UsageError(`${option} takes a time like 15m, 2h, 7d or 2026-05-01T12:00; got '${text}'`, {
      place: option,
    })
  return at
}
