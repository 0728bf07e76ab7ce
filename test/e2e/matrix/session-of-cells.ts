import type { Cell } from './cell.js'
import type { Era, EraClient } from './clients/client.js'
import type { Combination } from './combinations.js'
import { CLIENT_CAPABILITIES } from './features/unknown.js'
import { type Front, Gateways } from './gateways.js'
import { Names } from './names.js'
import { startUpstream, type TransportKind } from './upstream.js'

const SERVER = 'full'

/**
 * Gives each cell its client. Cells of one combination follow one another in one session, until one fails: what it left
 * behind is nobody else's.
 */
export class CellSessions implements AsyncDisposable {
  readonly #gateways = new Map<string, Promise<Gateways>>()
  #current: { readonly combination: Combination; readonly client: Promise<EraClient> } | undefined

  /** Runs one check with a client of this combination. */
  async run(combination: Combination, check: (cell: Cell) => Promise<void>): Promise<void> {
    if (this.#current?.combination !== combination) await this.#leave()
    this.#current ??= { combination, client: this.#connect(combination, 'merged') }
    try {
      const client = await this.#current.client
      const another = (front: Front) => this.#connect(combination, front)
      await check({ combination, client, names: new Names(SERVER), another })
      if (client.faults.length > 0) throw new Error(`what this era does not have: ${client.faults.join('\n')}`)
    } catch (error) {
      await this.#leave()
      throw error
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#leave()
    for (const gateways of this.#gateways.values()) await (await gateways)[Symbol.asyncDispose]()
  }

  async #connect({ client, server, downstream, upstream }: Combination, front: Front): Promise<EraClient> {
    const gateways = await this.#gatewaysOf(server, upstream)
    return gateways.connect({ era: client, transport: downstream, front, capabilities: CLIENT_CAPABILITIES })
  }

  #gatewaysOf(era: Era, transport: TransportKind): Promise<Gateways> {
    const name = `${era} over ${transport}`
    const open = this.#gateways.get(name) ?? openGateways(era, transport)
    this.#gateways.set(name, open)
    return open
  }

  async #leave(): Promise<void> {
    const former = this.#current
    this.#current = undefined
    if (former === undefined) return
    // A broken session can't be ended in good order, and one that never opened has no end.
    await former.client.then((client) => client[Symbol.asyncDispose]()).catch(() => undefined)
  }
}

async function openGateways(era: Era, transport: TransportKind): Promise<Gateways> {
  return Gateways.open({ [SERVER]: await startUpstream(era, transport) })
}
