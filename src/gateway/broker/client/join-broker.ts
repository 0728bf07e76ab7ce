import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { ConfigProblem } from '../../../config/index.js'
import { BrokerError, CancelledError, ReeveError } from '../../../errors.js'
import type { ServerKey } from '../../../identity/index.js'
import type { JsonObject } from '../../../protocol/index.js'
import { type BrokerPlace, brokerPlace } from '../place.js'
import { errorFrom } from '../wire/error-line.js'
import { BROKER_PROTOCOL, isNewer } from '../wire/greeting.js'
import { readNeed, type SessionHello } from '../wire/hello.js'
import { BROKER_LIMITS } from '../wire/limits.js'
import { fromWire } from '../wire/thread-shapes.js'
import { type GreetedBroker, greetBroker } from './greet-broker.js'
import { LateStarter } from './late-starter.js'
import type { BrokerCommand } from './start-broker.js'

export interface JoinOptions {
  /** Absolute. */
  readonly home: string
  /** Of Reeve. */
  readonly version: string
  readonly hello: Omit<SessionHello, 'pid'>
  /** This client's variables, of which the broker gets those that it asks for by name. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Absent: a broker that runs is joined, and none is started. */
  readonly start?: BrokerCommand
  /** Milliseconds for all of it. Default 10,000. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

/** A session with the broker, its socket past the handshake. */
export interface JoinedBroker {
  readonly socket: Socket
  /** What is wrong with the configuration; everything else in it counts. */
  readonly problems: readonly ConfigProblem[]
  /** What is wrong with the state folder, already dealt with. */
  readonly warnings: readonly string[]
  /** Of all servers, disabled ones included. */
  readonly keys: readonly ServerKey[]
}

/**
 * Joins the broker of a home. One is started when there is none, and one of an older version is asked to make room.
 *
 * @throws BrokerError when none can be reached in time, trusted or understood; whatever the broker says is wrong with
 *   the session otherwise
 */
export async function joinBroker(options: JoinOptions): Promise<JoinedBroker> {
  const { home, version, start, timeoutMs = 10_000, signal } = options
  const place = brokerPlace(home)
  const end = performance.now() + timeoutMs
  using starter = start && new LateStarter(place, start)
  for (;;) {
    if (signal?.aborted) throw new CancelledError()
    const found = await greetBroker(place, version)
    const joined = found && (await proceed(found, options, Math.max(1, end - performance.now())))
    if (joined !== undefined) return joined
    if (starter === undefined && found === undefined) throw noBroker(place)
    if (performance.now() > end) throw late(place, timeoutMs)
    await starter?.push()
    await pause(POLL_MS)
  }
}

/** Between two looks for a broker that is about to come up, which takes a few hundred milliseconds. */
const POLL_MS = 10

/** Undefined when that broker is gone, or leaves: the next one is to be asked. */
async function proceed(found: GreetedBroker, options: JoinOptions, ms: number): Promise<JoinedBroker | undefined> {
  const { lines, socket } = found
  try {
    lines.within(ms)
    if (isNewer(options.version, found.version)) return await askForRoom(found)
    if (found.protocol !== BROKER_PROTOCOL) throw incompatible(found)
    return await enter(found, options)
  } catch (error) {
    socket.destroy()
    if (error instanceof ReeveError && error.code === 'broker_lost') return undefined
    throw error
  } finally {
    lines.release()
  }
}

async function askForRoom({ lines, proof, socket }: GreetedBroker): Promise<undefined> {
  lines.send({ proof })
  lines.send({ mode: 'control', action: 'handover' })
  const answer = await lines.next(BROKER_LIMITS.helloLine)
  const error = errorFrom(answer)
  if (error !== undefined) throw error
  socket.destroy()
}

async function enter({ lines, proof, socket }: GreetedBroker, { hello, env }: JoinOptions): Promise<JoinedBroker> {
  lines.send({ proof })
  lines.send({
    ...hello,
    configFiles: [...hello.configFiles],
    environments: [...hello.environments],
    pid: process.pid,
  })
  for (;;) {
    const line = await lines.next(BROKER_LIMITS.helloLine)
    const error = errorFrom(line)
    if (error !== undefined) throw error
    const need = readNeed(line)
    if (need === undefined) return { socket, ...toldBy(line) }
    lines.send({
      env: Object.fromEntries(need.map((name) => [name, Object.hasOwn(env, name) ? (env[name] ?? null) : null])),
    })
  }
}

function toldBy({ welcome }: JsonObject): Omit<JoinedBroker, 'socket'> {
  if (welcome === undefined) throw new BrokerError('broker_refused', 'the broker did not say welcome')
  return fromWire(welcome)
}

function noBroker({ socket }: BrokerPlace): BrokerError {
  return new BrokerError('broker_unreachable', 'no broker runs', { place: socket.path })
}

function late({ log }: BrokerPlace, ms: number): BrokerError {
  return new BrokerError('broker_unreachable', `the broker did not come up within ${ms / 1000} s: see ${log}`, {
    place: log,
  })
}

function incompatible({ version, protocol }: GreetedBroker): BrokerError {
  return new BrokerError(
    'broker_incompatible',
    `the broker is of reeve ${version} and speaks protocol ${protocol}, this one ${BROKER_PROTOCOL}`,
  )
}
