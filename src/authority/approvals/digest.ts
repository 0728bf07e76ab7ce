import { createHash } from 'node:crypto'

/** What is left to be written, the next on top. */
type Pending = { readonly text: string } | { readonly value: unknown }

/**
 * SHA-256, in lower-case hex, of a JSON value whose objects are taken in the order of their members' names. Members that
 * are `undefined` count as absent. Any depth will do: a server decides how deep its schemas are.
 */
export function digestOf(root: unknown): string {
  const hash = createHash('sha256')
  const pending: Pending[] = [{ value: root }]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if ('text' in next) hash.update(next.text)
    else for (const part of partsOf(next.value).reverse()) pending.push(part)
  }
  return hash.digest('hex')
}

function partsOf(value: unknown): Pending[] {
  if (Array.isArray(value)) return [{ text: '[' }, ...value.flatMap((item) => [{ value: item }, COMMA]), { text: ']' }]
  if (typeof value !== 'object' || value === null) return [{ text: JSON.stringify(value) ?? 'null' }]
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return [
    { text: '{' },
    ...members.flatMap(([name, member]) => [{ text: `${JSON.stringify(name)}:` }, { value: member }, COMMA]),
    { text: '}' },
  ]
}

const COMMA: Pending = { text: ',' }
