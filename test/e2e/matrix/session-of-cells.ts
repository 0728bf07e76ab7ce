import type { Cell } from './cell.js'
import type { Era, EraClient } from './clients/client.js'
import type { Combination } from './combinations.js'
import { CLIENT_CAPABILITIES } from './features/unknown.js'
import type { ScriptedServer } from './fidelity/scripted-server.js'
import { serveScript } from './fidelity/serve-script.js'
import { type Front, Gateways } from './gateways.js'
import { Names } from './names.js'
import { scriptedPeer } from './scripted-peer.js'
import { untilListed } from './until-listed.js'
import { startUpstream, type TransportKind } from './upstream.js'

const SERVER = 'full'

/**
 * Gives each cell its client. Cells of one combination follow one another in one session, until one fails: what it left
 * behind is nobody else's.
 */
export class CellSessions implements AsyncDisposable {
  readonly #behind = new Map<string, Promise<Behind>>()
  #current: { readonly combination: Combination; readonly client: Promise<EraClient> } | undefined

  /** Runs one check with a client of this combination. */
  async run(combination: Combination, patienceMs: number, check: (cell: Cell) => Promise<void>): Promise<void> {
    if (this.#current?.combination !== combination) await this.#leave()
    this.#current ??= { combination, client: this.#open(combination) }
    try {
      const client = await this.#current.client
      const another = (front: Front) => this.#connect(combination, front)
      const { scripted } = await this.#behindOf(combination)
      await check({ combination, client, names: new Names(SERVER), scripted, patienceMs, another })
      if (client.faults.length > 0) throw new Error(`what this era does not have: ${client.faults.join('\n')}`)
    } catch (error) {
      await this.#leave()
      throw error
    }
  }

  /** What the gateways of all cells complained of. */
  async warnings(): Promise<readonly Error[]> {
    const behind = await Promise.all(this.#behind.values())
    return behind.flatMap(({ gateways }) => gateways.warnings)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#leave()
    for (const behind of this.#behind.values()) await (await behind).gateways[Symbol.asyncDispose]()
  }

  async #open(combination: Combination): Promise<EraClient> {
    const client = await this.#connect(combination, 'merged')
    await untilListed(client, [`${SERVER}__test_simple_text`, 'scripted__plain'])
    return client
  }

  async #connect(combination: Combination, front: Front): Promise<EraClient> {
    const { gateways } = await this.#behindOf(combination)
    const { client: era, downstream: transport } = combination
    return gateways.connect({ era, transport, front, capabilities: CLIENT_CAPABILITIES })
  }

  /** The servers, and the runtime before them, are those of all clients. */
  #behindOf({ server, upstream }: Combination): Promise<Behind> {
    const name = `${server} over ${upstream}`
    const behind = this.#behind.get(name) ?? openBehind(server, upstream)
    this.#behind.set(name, behind)
    return behind
  }

  async #leave(): Promise<void> {
    const former = this.#current
    this.#current = undefined
    if (former === undefined) return
    // A broken session can't be ended in good order, and one that never opened has no end.
    await former.client.then((client) => client[Symbol.asyncDispose]()).catch(() => undefined)
  }
}

interface Behind {
  readonly gateways: Gateways
  readonly scripted: ScriptedServer
}

async function openBehind(era: Era, transport: TransportKind): Promise<Behind> {
  const scripted = scriptedPeer(era)
  const upstreams = {
    [SERVER]: await startUpstream(era, transport),
    scripted: await serveScript(scripted, era, transport),
  }
  return { gateways: await Gateways.open(upstreams), scripted }
}
