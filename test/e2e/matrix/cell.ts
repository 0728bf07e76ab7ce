import type { JsonObject } from '../../../src/protocol/index.js'
import type { EraClient } from './clients/client.js'
import type { Combination } from './combinations.js'
import type { Front } from './gateways.js'
import type { Names } from './names.js'

/** What a feature is tried with. */
export interface Cell {
  readonly combination: Combination
  /** Behind a merged gateway. */
  readonly client: EraClient
  readonly names: Names
  /** One more client of the same kind; the caller ends it. */
  another(front: Front): Promise<EraClient>
}

/** One row of the matrix. `check` throws when the feature does not come through whole. */
export interface Feature {
  readonly name: string
  check(cell: Cell): Promise<void>
}

export function callTool({ client, names }: Pick<Cell, 'client' | 'names'>, tool: string, args: JsonObject = {}) {
  return client.request('tools/call', { name: names.of(tool), arguments: args })
}

export function textOf({ content }: JsonObject): string {
  const [first] = (Array.isArray(content) ? content : []) as JsonObject[]
  return String(first?.text)
}
