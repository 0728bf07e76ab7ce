import type { JsonObject } from '../../../src/protocol/index.js'
import type { EraClient } from './clients/client.js'
import type { Combination } from './combinations.js'
import type { ScriptedServer } from './fidelity/scripted-server.js'
import type { Front } from './gateways.js'
import type { Names } from './names.js'

/** What a feature is tried with. */
export interface Cell {
  readonly combination: Combination
  /** Behind a merged gateway. */
  readonly client: EraClient
  readonly names: Names
  /** The server beside the full-feature one, whose every word the test has. */
  readonly scripted: ScriptedServer
  /** How long what may never come is waited for. */
  readonly patienceMs: number
  /** One more client of the same kind; the caller ends it. */
  another(front: Front): Promise<EraClient>
}

/** One row of the matrix. `check` throws when the feature does not come through whole. */
export interface Feature {
  readonly name: string
  /** Where only one era has it at all; the other combinations have no such cell. */
  readonly only?: Partial<Pick<Combination, 'client' | 'server'>>
  check(cell: Cell): Promise<void>
}

export function callTool({ client, names }: Pick<Cell, 'client' | 'names'>, tool: string, args: JsonObject = {}) {
  return client.request('tools/call', { name: names.of(tool), arguments: args })
}

export function textOf({ content }: JsonObject): string {
  const [first] = (Array.isArray(content) ? content : []) as JsonObject[]
  return String(first?.text)
}

/** Whether this combination has such a cell. */
export function exists({ only = {} }: Feature, { client, server }: Combination): boolean {
  return (only.client ?? client) === client && (only.server ?? server) === server
}
