/**
 * The first member that an object of a JSON text has twice; undefined: none. Parsing keeps the last of them without a word,
 * another reader may keep the first, and each would enforce another policy.
 *
 * @param json valid JSON
 */
export function repeatedMember(json: string): string | undefined {
  const open: (Set<string> | undefined)[] = []
  for (const [token, text, colon] of json.matchAll(TOKENS)) {
    if (token === '{') open.push(new Set())
    else if (token === '[') open.push(undefined)
    else if (token === '}' || token === ']') open.pop()
    else if (text !== undefined && colon !== undefined) {
      const names = open.at(-1)
      const name: unknown = JSON.parse(`"${text}"`)
      if (typeof name !== 'string' || names === undefined) continue
      if (names.has(name)) return name
      names.add(name)
    }
  }
  return undefined
}

/** Strings, with the colon that makes one a name, and brackets. */
const TOKENS = /"([^"\\]*(?:\\.[^"\\]*)*)"(\s*:)?|[{}[\]]/g
