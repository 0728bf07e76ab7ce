import type { Socket } from 'node:net'
import { BrokerError } from '../../../errors.js'
import { BROKER_PROTOCOL, isProof, newNonce, type Opening, proofOf, readOpening } from '../wire/greeting.js'
import { HandshakeLines } from '../wire/handshake-lines.js'
import { type Hello, readHello, readVariables } from '../wire/hello.js'
import { BROKER_LIMITS } from '../wire/limits.js'

export interface GreetingOptions {
  readonly key: string
  /** Of this broker. */
  readonly version: string
  readonly timeoutMs?: number
}

/** A client that has proved itself, and what it wants. */
export interface GreetedClient {
  readonly hello: Hello
  readonly version: string
  readonly lines: HandshakeLines
}

/**
 * The broker's side of the handshake, up to what the client wants.
 *
 * @throws BrokerError `broker_refused` for a client that knows no key or says nothing that can be used
 */
export async function greetClient(socket: Socket, options: GreetingOptions): Promise<GreetedClient> {
  const lines = new HandshakeLines(socket, options.timeoutMs)
  try {
    const client = readOpening(await lines.next(BROKER_LIMITS.strangerLine))
    if (client === undefined) throw new BrokerError('broker_refused', 'the client began with no opening of ours')
    const broker: Opening = { reeve: options.version, protocol: BROKER_PROTOCOL, nonce: newNonce() }
    lines.send({ ...broker, proof: proofOf('broker', options.key, client, broker) })
    const { proof } = await lines.next(BROKER_LIMITS.strangerLine)
    if (!isProof(proof, proofOf('client', options.key, client, broker))) {
      throw new BrokerError('broker_refused', "the client doesn't know this broker's key")
    }
    const hello = readHello(await lines.next(BROKER_LIMITS.helloLine))
    if (hello.mode !== 'control' && client.protocol !== BROKER_PROTOCOL) throw otherProtocol(client)
    return { hello, version: client.reeve, lines }
  } catch (error) {
    lines.release()
    throw error
  }
}

/** Asks a client for the values of its variables. */
export async function askForVariables(
  lines: HandshakeLines,
  names: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  lines.send({ need: [...names] })
  return readVariables(await lines.next(BROKER_LIMITS.helloLine))
}

function otherProtocol({ reeve, protocol }: Opening): BrokerError {
  return new BrokerError(
    'broker_incompatible',
    `reeve ${reeve} speaks protocol ${protocol} of the broker, and this one ${BROKER_PROTOCOL}`,
  )
}
