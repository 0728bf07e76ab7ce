import type { Socket } from 'node:net'
import { LineSplitter } from '../../../protocol/index.js'
import { BROKER_LIMITS } from '../wire/limits.js'

export interface BrokerFrameHandlers {
  /** What it throws goes to `onFault`. */
  onFrame(line: Buffer): void
  /** A frame that can't be dealt with; the socket stays as it is. */
  onFault(error: unknown): void
  /** The broker takes frames again. */
  onDrain(): void
  /** Once, however the connection ended. */
  onGone(): void
}

/** Takes the frames of a broker from its socket until that ends. */
export function takeFrames(socket: Socket, handlers: BrokerFrameHandlers): void {
  const lines = new LineSplitter({
    limit: BROKER_LIMITS.brokerFrame,
    tooLong: 'refuse',
    what: 'a frame of the broker',
    onLine: (line) => handlers.onFrame(line),
  })
  let over = false
  const gone = () => {
    if (over) return
    over = true
    socket.destroy()
    handlers.onGone()
  }
  socket
    .on('data', (chunk: Buffer) => {
      try {
        lines.push(chunk)
      } catch (error) {
        handlers.onFault(error)
      }
    })
    .on('drain', () => handlers.onDrain())
    .on('end', gone)
    .on('close', gone)
    .on('error', gone)
  // Nothing more would be told of a socket that has ended already.
  if (socket.destroyed || socket.readableEnded) process.nextTick(gone)
}
