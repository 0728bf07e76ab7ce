import type { Raw, RawTable } from '../../config/index.js'
import { UsageError } from '../usage.js'

/** Members of an entry; those that are undefined are not written. */
export type Members = Readonly<Record<string, Raw | undefined>>

export function withoutAbsent(members: Members): RawTable {
  const table: Record<string, Raw> = Object.create(null)
  for (const [name, value] of Object.entries(members)) if (value !== undefined) table[name] = value
  return table
}

/** `--env KEY=VALUE`, as often as given. */
export function variables(texts: readonly string[] | undefined): Record<string, string> | undefined {
  return pairs('--env', 'KEY=VALUE', /^([^=]+)=([\s\S]*)$/, texts)
}

/**
 * Options of two parts, as `pattern` parts them. The text of the value may be a secret: errors show the name of the
 * option alone.
 *
 * @throws UsageError
 */
export function pairs(
  flag: string,
  form: string,
  pattern: RegExp,
  texts: readonly string[] | undefined,
): Record<string, string> | undefined {
  if (texts === undefined || texts.length === 0) return undefined
  const table: Record<string, string> = Object.create(null)
  for (const text of texts) {
    const [, name, value] = pattern.exec(text) ?? []
    if (name === undefined || value === undefined) throw new UsageError(`${flag} takes ${form}`)
    table[name] = value
  }
  return table
}

/** Seconds as a configuration writes them: whole ones as an integer. */
export function secondsOf(flag: string, text: string | undefined): number | bigint | undefined {
  if (text === undefined) return undefined
  if (!/^\d{1,9}(\.\d{1,3})?$/.test(text)) throw new UsageError(`${flag} takes a number of seconds, not '${text}'`)
  return text.includes('.') ? Number(text) : BigInt(text)
}
