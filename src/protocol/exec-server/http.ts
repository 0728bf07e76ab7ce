/** Reference: executor-protocol, 7. */
export interface ExecHttpHeader {
  readonly name: string
  readonly value: string
  /** The executor appends the value of its own variable; only with capability `httpHeaderEnvVars`. */
  readonly valueEnvVar?: string | null
}

export interface ExecHttpParams {
  readonly method: string
  readonly url: string
  readonly headers?: readonly ExecHttpHeader[]
  readonly bodyBase64?: string | null
  /** Of the whole exchange, the body included. Absent: none. */
  readonly timeoutMs?: number | null
  readonly redirectPolicy?: 'follow' | 'stop'
  /** Unique among the streams that are open on the connection. */
  readonly requestId: string
  readonly streamResponse?: boolean
}

export interface ExecHttpResult {
  readonly status: number
  readonly headers: readonly { readonly name: string; readonly value: string }[]
  /** Empty when the body is streamed. */
  readonly bodyBase64: string
}

export interface ExecBodyDeltaEvent {
  readonly requestId: string
  /** From 1, in order. */
  readonly seq: number
  readonly deltaBase64: string
  readonly done: boolean
  readonly error?: string | null
}
