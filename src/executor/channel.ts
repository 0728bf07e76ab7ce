/** One client's messages, over a WebSocket or on stdio. */
export interface Channel {
  /** Sends one message. After the channel has ended it does nothing. */
  send(text: string): void
  /** More is waiting to leave than a client that keeps up would leave there. */
  readonly isCongested: boolean
  pauseInput(): void
  resumeInput(): void
  /** Ends the channel at once, without a word. */
  drop(): void
  /** Ends the channel unless the client shows a sign of life. */
  probe(): void
}

/** What a channel tells its connection. */
export interface ChannelEvents {
  message(text: string): void
  /** The channel took enough of what waited. */
  drained(): void
  ended(): void
}
