import type { ExecEnvironmentInfo } from './environment.js'

/** Reference: executor-protocol, 4.1. */
export interface ExecInitializeParams {
  readonly clientName: string
  readonly resumeSessionId?: string | null
}

export interface ExecInitializeResult {
  /** With access to the socket it is enough to take the session over: a secret. */
  readonly sessionId: string
  /** Absent in 0.147. */
  readonly environmentInfo?: ExecEnvironmentInfo
}
