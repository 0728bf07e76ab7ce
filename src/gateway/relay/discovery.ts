import { discovered, type Handshake } from '../../connections/index.js'
import { RpcError } from '../../errors.js'
import type { ServerKey } from '../../identity/index.js'
import type { JsonObject } from '../../protocol/index.js'
import type { Thread } from '../../threads/index.js'
import { outgoingMeta } from './call-meta.js'
import { optionalObject } from './params.js'

const DISCOVER_TIMEOUT = 10_000

/**
 * What a modern server says of itself now, asked with whatever the client said beside its envelope. Undefined for a
 * legacy server, which was greeted once and before, and for one that refuses to say more than it did then.
 */
export async function discoverAgain(
  thread: Thread,
  key: ServerKey,
  params: JsonObject,
  signal: AbortSignal,
): Promise<Handshake | undefined> {
  const { _meta, ...rest } = params
  const { progressToken: _, ...meta } = outgoingMeta(optionalObject(params, '_meta')) ?? {}
  const { client } = await thread.client({ server: key.name, environment: key.environment }, { signal })
  if (client.era !== 'modern') return undefined
  try {
    const sent = { ...rest, _meta: meta }
    return discovered(await client.request('server/discover', sent, { signal, timeoutMs: DISCOVER_TIMEOUT }), key)
  } catch (error) {
    if (error instanceof RpcError) return undefined
    throw error
  }
}
