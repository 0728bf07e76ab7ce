import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { BrokerError, ReeveError } from '../../../errors.js'
import type { BrokerPlace } from '../place.js'
import { isPrivate } from '../rights.js'
import { errorFrom } from '../wire/error-line.js'
import { BROKER_PROTOCOL, isProof, newNonce, type Opening, proofOf, readOpening } from '../wire/greeting.js'
import { HandshakeLines } from '../wire/handshake-lines.js'
import { BROKER_LIMITS } from '../wire/limits.js'

/** A broker that has proved itself. What is said to it next begins with `proof`. */
export interface GreetedBroker {
  readonly version: string
  readonly protocol: number
  readonly socket: Socket
  readonly lines: HandshakeLines
  readonly proof: string
}

/** Milliseconds that a broker has for its first line: it answers at once, or it hangs. */
const GREETING_MS = 3000

/**
 * Meets the broker of a home; undefined when none is there. Nothing is said to it but our version before it has shown
 * that it knows the key.
 *
 * @throws BrokerError `broker_untrusted` when its files are open to others, or whoever answers doesn't know the key;
 *   `broker_unreachable` when it doesn't answer
 */
export async function greetBroker(place: BrokerPlace, version: string): Promise<GreetedBroker | undefined> {
  const { socket: at } = place
  if (at.kind === 'unix' && !(isPrivate(at.folder, 'folder') && isPrivate(at.path, 'socket'))) return undefined
  const key = readKey(place.key)
  const socket = key === undefined ? undefined : await reach(at.path)
  if (key === undefined || socket === undefined) return undefined
  const lines = new HandshakeLines(socket, GREETING_MS)
  try {
    const client: Opening = { reeve: version, protocol: BROKER_PROTOCOL, nonce: newNonce() }
    lines.send({ ...client })
    const line = await lines.next(BROKER_LIMITS.strangerLine)
    const broker = readOpening(line)
    if (broker === undefined) throw errorFrom(line) ?? unproven(at.path)
    if (!isProof(line.proof, proofOf('broker', key, client, broker))) throw unproven(at.path)
    const proof = proofOf('client', key, client, broker)
    return { version: broker.reeve, protocol: broker.protocol, socket, lines, proof }
  } catch (error) {
    lines.release()
    socket.destroy()
    // It was on its way out.
    if (error instanceof ReeveError && error.code === 'broker_lost') return undefined
    throw error
  }
}

/** The key's text; undefined when there is none yet. */
function readKey(path: string): string | undefined {
  return isPrivate(path, 'file') ? readFileSync(path, 'utf8').trim() : undefined
}

/** Undefined when nobody listens there. */
function reach(path: string): Promise<Socket | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect({ path, allowHalfOpen: true })
    const onError = (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED' || error.code === 'ECONNRESET') resolve(undefined)
      else
        reject(new BrokerError('broker_unreachable', `the broker can't be reached: ${error.message}`, { place: path }))
    }
    socket.once('error', onError)
    socket.once('connect', () => {
      socket.off('error', onError)
      // Whoever reads hears of faults; without a listener they would end the process.
      socket.on('error', () => undefined)
      resolve(socket)
    })
  })
}

function unproven(path: string): BrokerError {
  return new BrokerError('broker_untrusted', `what answers at ${path} doesn't know the broker's key`, { place: path })
}
