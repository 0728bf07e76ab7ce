import { ProtocolViolationError } from '../../errors.js'
import { decodeBytes, EXEC_EVENTS } from '../../protocol/index.js'
import { countOf, flagOf, listOf, memberOf, textOf } from './answers.js'
import type { EventSequence, ProcessEvent } from './sequence.js'

/**
 * The event of a notification about process `id`; undefined for notifications of other kinds. One about another process
 * raises `ProtocolViolationError`: a session holds one process here.
 */
export function processEventOf(method: string, params: unknown, id: string, place: string): ProcessEvent | undefined {
  if (method !== EXEC_EVENTS.output && method !== EXEC_EVENTS.exited && method !== EXEC_EVENTS.closed) return undefined
  if (textOf(params, 'processId', place) !== id)
    throw new ProtocolViolationError(`${place} sent events of a process that this session does not have`, { place })
  const seq = countOf(params, 'seq', place)
  if (method === EXEC_EVENTS.output) return outputOf(params, place)
  if (method === EXEC_EVENTS.closed) return { kind: 'closed', seq }
  return { kind: 'exited', seq, code: codeOf(params, place) }
}

function outputOf(value: unknown, place: string): ProcessEvent {
  const stream = textOf(value, 'stream', place)
  if (stream !== 'stdout' && stream !== 'stderr' && stream !== 'pty')
    throw new ProtocolViolationError(`${place} sent output of a stream that is neither stdout, stderr nor pty`, {
      place,
    })
  const bytes = decodeBytes(memberOf(value, 'chunk'))
  if (bytes === undefined) throw new ProtocolViolationError(`${place} sent output that is not base64`, { place })
  return { kind: 'output', seq: countOf(value, 'seq', place), stream: stream === 'stderr' ? 'stderr' : 'stdout', bytes }
}

function codeOf(value: unknown, place: string): number {
  const code = memberOf(value, 'exitCode')
  if (typeof code === 'number' && Number.isSafeInteger(code)) return code
  throw new ProtocolViolationError(`${place} reports an exit without its code`, { place })
}

/**
 * Takes the answer of `process/read` after a lost connection into the sequence, and gives what can be delivered. The
 * numbers that are no output are worked out: one may be the exit, the last one is the close (reference:
 * executor-protocol, 4.3). Any other missing number was dropped by the executor: a stream with a hole is no stream, so
 * that raises `ProtocolViolationError`.
 */
export function replayed(answer: unknown, sequence: EventSequence, place: string): readonly ProcessEvent[] {
  const ready: ProcessEvent[] = []
  const accept = (event: ProcessEvent) => ready.push(...sequence.accept(event))
  for (const chunk of listOf(answer, 'chunks', place)) accept(outputOf(chunk, place))
  const through = countOf(answer, 'nextSeq', place) - 1
  const closed = flagOf(answer, 'closed', place)
  const exited = flagOf(answer, 'exited', place)
  const gap = () => sequence.missing(closed ? through - 1 : through)
  if (exited && !sequence.exitKnown && gap().count === 1)
    accept({ kind: 'exited', seq: gap().first, code: codeOf(answer, place) })
  if (gap().count > 0)
    throw new ProtocolViolationError(
      `${place} has dropped ${gap().count} pieces of output while the connection was lost`,
      {
        place,
        data: { missing: gap().count, first: gap().first },
      },
    )
  if (closed) accept({ kind: 'closed', seq: through })
  return ready
}
