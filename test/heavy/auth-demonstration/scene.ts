import { inspect } from 'node:util'
import type { SeenRequest } from '../../standins/backend-model.js'
import { readAssertion } from '../../standins/backend-tokens.js'

/** What one part of the demonstration shows, and what nothing that it leaves behind may hold. */
export interface Scene {
  readonly rows: readonly (readonly string[])[]
  readonly secrets: readonly string[]
  /** Every error that a caller got, whole. */
  readonly told: readonly string[]
}

export type Told = string[]

/** How a call ended, in a word; the whole of it goes to `told`. */
export async function outcome(told: Told, call: () => Promise<unknown>): Promise<string> {
  try {
    told.push(inspect(await call(), { depth: 9 }))
    return 'done'
  } catch (error) {
    told.push(inspect(error, { depth: 9 }))
    return error instanceof Error && 'code' in error ? String(error.code) : 'failed'
  }
}

/** Each header's name; where it says whose request it is, in what form, and never the value. */
export function headersOf({ headers }: SeenRequest): string {
  const transport = new Set(['host', 'connection', 'content-length', 'accept-encoding'])
  return headers
    .filter(([name]) => !transport.has(name))
    .map(([name, value]) => (name === 'authorization' ? `${name}: ${value.split(' ')[0]} …` : name))
    .join(', ')
}

/** The beginning of an assertion's id, and its instance. */
export function assertionOf({ assertion }: SeenRequest): readonly [id: string, instance: string] {
  if (assertion === null) return ['–', '–']
  const { id, instance } = readAssertion(assertion)
  return [id.slice(0, 8), instance]
}

export function nameOf({ method, path, body }: SeenRequest): string {
  const rpc = path.endsWith('/mcp') ? /"method":"([^"]+)"/.exec(body)?.[1] : undefined
  return rpc ?? `${method} ${path}`
}
