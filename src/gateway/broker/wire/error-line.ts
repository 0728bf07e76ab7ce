import { BrokerError, ReeveError } from '../../../errors.js'
import type { JsonObject, JsonValue } from '../../../protocol/index.js'

/** The last line of a handshake that fails. What is no error of ours shows nothing of itself. */
export function errorLine(error: unknown): JsonObject {
  if (!(error instanceof ReeveError)) return { error: { code: 'internal', message: 'the broker failed' } }
  return { error: error.toJSON() as { [member: string]: JsonValue } }
}

/** The error that such a line tells; undefined when the line tells none. */
export function errorFrom({ error }: JsonObject): ReeveError | undefined {
  if (error === undefined) return undefined
  const { code, message } = typeof error === 'object' && error !== null && !Array.isArray(error) ? error : {}
  const said = typeof message === 'string' ? message : 'the broker turned this client away'
  if (typeof code !== 'string') return new BrokerError('broker_refused', said)
  return new ReeveError(code, said)
}
