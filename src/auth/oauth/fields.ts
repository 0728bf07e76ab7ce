export type Fields = Readonly<Record<string, unknown>>

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A member that is a text and not blank. */
export function textOf(fields: Fields, name: string): string | undefined {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

/** Texts of a list, trimmed, without blanks and repetitions; undefined where there is no list (reference: auth, 1.1). */
export function textsOf(fields: Fields, name: string): readonly string[] | undefined {
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined
  if (!Array.isArray(value)) return undefined
  const texts = value.filter((item) => typeof item === 'string').map((item) => item.trim())
  return [...new Set(texts.filter((item) => item !== ''))]
}
