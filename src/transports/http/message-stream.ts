import { ProtocolViolationError } from '../../errors.js'
import type { JsonRpcMessage } from '../../protocol/index.js'
import { readEvents, type StreamCursor } from './event-stream.js'
import { readMessages } from './read-messages.js'

export interface MessageSink {
  message(message: JsonRpcMessage): void
  /** An event that is no message. Throwing ends the stream. */
  fault(fault: ProtocolViolationError): void
}

/**
 * Hands over the messages of one event stream until it ends. Events of other types and empty ones (they only carry an
 * id) are passed over. Rejects as `readEvents` does.
 */
export async function pumpMessages(
  body: AsyncIterable<Buffer>,
  cursor: StreamCursor,
  place: string,
  sink: MessageSink,
): Promise<void> {
  for await (const event of readEvents(body, cursor, place)) {
    if (event.data !== '' && (event.event === undefined || event.event === 'message')) {
      handOver(event.data, place, sink)
    }
  }
}

export function handOver(text: string, place: string, sink: MessageSink): void {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    sink.fault(new ProtocolViolationError(`${place} sent an event that is not JSON`, { place, cause }))
    return
  }
  const { messages, faults } = readMessages(value, place)
  for (const message of messages) sink.message(message)
  for (const fault of faults) sink.fault(fault)
}
