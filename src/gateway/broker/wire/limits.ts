/** What each side of a broker's socket takes from the other. Times in milliseconds, sizes in bytes. */
export const BROKER_LIMITS = Object.freeze({
  /** A line of somebody who has proved nothing yet. */
  strangerLine: 4096,
  /** A line of the handshake after that: paths, and values of variables. */
  helloLine: 4 * 1024 * 1024,
  /** For all lines of the handshake together. Opening a workspace is not in it. */
  handshakeMs: 5000,
  /** Names of variables that a configuration may ask a client for. */
  variables: 1024,
  configFiles: 64,
  /** Environments that a client may select. */
  environments: 256,
  /** One frame of a thread's client. */
  clientFrame: 32 * 1024 * 1024,
  /** One frame of the broker: a step holds the tools of all servers. */
  brokerFrame: 512 * 1024 * 1024,
  /** Unread output of one connection; beyond it the connection is given up. */
  backlog: 64 * 1024 * 1024,
  connections: 1024,
  /** Steps of one thread that can still be called; the oldest is forgotten first. */
  steps: 64,
})
