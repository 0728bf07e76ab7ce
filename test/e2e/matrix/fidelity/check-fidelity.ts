import fc from 'fast-check'
import type { JsonObject } from '../../../../src/protocol/index.js'
import type { Combination } from '../combinations.js'
import { Gateways } from '../gateways.js'
import { Names } from '../names.js'
import { untilListed } from '../until-listed.js'
import { converse } from './converse.js'
import { converseDirectly } from './converse-directly.js'
import { difference, type Passage } from './passages.js'
import { scriptOf } from './script-of.js'
import { ScriptedServer } from './scripted-server.js'
import { serveScript } from './serve-script.js'
import { type World, world } from './world.js'

const SERVER = 'odd'

/** How many values passed. */
export interface FidelityCount {
  readonly conversations: number
  readonly values: number
}

/**
 * Has random conversations, each with a server and a gateway of its own.
 *
 * @throws at the first value that is not the same on the other side; names its place, and the seed to repeat it
 */
export async function checkFidelity(combination: Combination, conversations: number): Promise<FidelityCount> {
  let values = 0
  const property = fc.asyncProperty(world(combination), async (said) => {
    const passages = await haveConversation(said, combination)
    values += passages.length
    const differences = passages.map(difference).filter((found) => found !== undefined)
    if (differences.length > 0) throw new Error(differences.join('\n'))
  })
  // Each conversation starts processes: the first difference is told rather than the smallest.
  await fc.assert(property, { numRuns: conversations, endOnFailure: true })
  return { conversations, values }
}

async function haveConversation(said: World, combination: Combination): Promise<readonly Passage[]> {
  const answers = new Map<string, JsonObject>()
  const server = new ScriptedServer(combination.server, scriptOf(said, combination.server, answers))
  const upstream = await serveScript(server, combination.server, combination.upstream)
  const toml = said.isolated ? `${upstream.toml}\nsharing = "isolated"` : upstream.toml
  await using gateways = await Gateways.open({ [SERVER]: { ...upstream, toml } })
  const connect = (front: 'merged' | 'transparent') =>
    gateways.connect({
      era: combination.client,
      transport: combination.downstream,
      front,
      capabilities: said.clientCapabilities,
      info: said.clientInfo,
    })
  await using client = await connect('merged')
  const names = new Names(SERVER)
  await untilListed(client, [names.of('t1')])
  const merged = await converse({ world: said, client, server, names, answers })
  await using direct = await connect('transparent')
  return [...merged, ...(await converseDirectly({ world: said, client: direct, server }))]
}
