import type { Path } from '../source/raw.js'
import { fault } from './shape.js'

/** The reference holds seconds as a u64. */
const LONGEST_SECONDS = 2 ** 64

/**
 * A duration that is written in seconds, in milliseconds.
 *
 * @param path of the member, or of the table that is to be named.
 * @throws ConfigError `negative_duration`, `invalid_value`, with the reference's texts.
 */
export function milliseconds(seconds: number | undefined, path: Path): number | undefined {
  if (seconds === undefined) return undefined
  const refused = 'cannot convert float seconds to Duration: value is'
  if (seconds < 0) throw fault('negative_duration', `${refused} negative`, path)
  if (!(seconds < LONGEST_SECONDS)) throw fault('invalid_value', `${refused} either too big or NaN`, path)
  return seconds * 1000
}
