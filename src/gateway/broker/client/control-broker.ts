import { BrokerError } from '../../../errors.js'
import { recordedPid } from '../broker-record.js'
import { brokerPlace } from '../place.js'
import type { BrokerStatus } from '../server/broker-status.js'
import { errorFrom } from '../wire/error-line.js'
import type { ControlHello } from '../wire/hello.js'
import { BROKER_LIMITS } from '../wire/limits.js'
import { fromWire } from '../wire/thread-shapes.js'
import { greetBroker } from './greet-broker.js'

export interface ControlOptions {
  /** Absolute. */
  readonly home: string
  /** Of Reeve. */
  readonly version: string
  /** Milliseconds that a broker has to end. Default 30,000. */
  readonly timeoutMs?: number
}

/**
 * How the broker of a home is doing; undefined when none runs. Starts none.
 * @throws BrokerError when it can't be trusted or doesn't answer
 */
export async function askBroker(options: ControlOptions): Promise<BrokerStatus | undefined> {
  return command(options, 'status')
}

/** Tells the broker of a home to end, and waits until it has; gives what it was. Undefined when none runs. */
export async function stopBroker(options: ControlOptions): Promise<BrokerStatus | undefined> {
  return command(options, 'stop')
}

async function command(
  { home, version, timeoutMs = 30_000 }: ControlOptions,
  action: ControlHello['action'],
): Promise<BrokerStatus | undefined> {
  const place = brokerPlace(home)
  const found = await greetBroker(place, version).catch((error: unknown) => {
    throw withProcess(error, place.record)
  })
  if (found === undefined) return undefined
  const { lines, socket, proof } = found
  try {
    lines.within(timeoutMs)
    lines.send({ proof })
    lines.send({ mode: 'control', action })
    const answer = await lines.next(BROKER_LIMITS.brokerFrame)
    const error = errorFrom(answer)
    if (error !== undefined) throw error
    if (action === 'stop') await ended(lines.next(BROKER_LIMITS.strangerLine))
    return fromWire<BrokerStatus>(answer.welcome)
  } finally {
    lines.release()
    socket.destroy()
  }
}

/** One that answers no more can only be ended from outside; its servers are ended by the next one. */
function withProcess(error: unknown, record: string): unknown {
  if (!(error instanceof BrokerError) || error.code !== 'broker_unreachable') return error
  const pid = recordedPid(record)
  if (pid === undefined) return error
  const message = `the broker (process ${pid}) does not answer: end it with 'kill -9 ${pid}'`
  return new BrokerError('broker_unreachable', message, { data: { pid }, cause: error })
}

/** The broker says nothing more: its end is the end of the connection. */
async function ended(next: Promise<unknown>): Promise<void> {
  try {
    await next
  } catch (error) {
    if (error instanceof BrokerError && error.code === 'broker_lost') return
    throw error
  }
}
