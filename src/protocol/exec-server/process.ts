/** Reference: executor-protocol, 5 and 6. */
export interface ExecEnvPolicy {
  readonly inherit: 'all' | 'core' | 'none'
  readonly ignoreDefaultExcludes: boolean
  /** Patterns of `*` and `?`, whatever the case. */
  readonly exclude: readonly string[]
  readonly set: Readonly<Record<string, string>>
  readonly includeOnly: readonly string[]
}

/** Names that `inherit: core` keeps on Unix (reference: executor-protocol, 6.5). */
export const EXEC_CORE_VARIABLES = [
  'PATH',
  'SHELL',
  'TMPDIR',
  'TEMP',
  'TMP',
  'HOME',
  'LANG',
  'LC_ALL',
  'LC_CTYPE',
  'LOGNAME',
  'USER',
] as const

export interface ExecStartParams {
  /** Chosen by the client, unique in the session. */
  readonly processId: string
  readonly argv: readonly string[]
  /** A `file:` URI. */
  readonly cwd: string
  /** Laid over what the policy leaves. Without a policy it is all that the child gets. */
  readonly env: Readonly<Record<string, string>>
  readonly envPolicy?: ExecEnvPolicy | null
  readonly tty: boolean
  readonly pipeStdin?: boolean
  readonly arg0?: string | null
  readonly sandbox?: unknown
  readonly enforceManagedNetwork?: boolean
  readonly managedNetwork?: unknown
  readonly networkProxy?: unknown
  readonly shellSnapshot?: unknown
}

export interface ExecStartResult {
  readonly processId: string
  readonly sandboxType?: string | null
}

export interface ExecWriteParams {
  readonly processId: string
  /** Base64. */
  readonly chunk: string
  /** Not empty, unique in the process: what came twice is written once. */
  readonly writeId: string
}

export interface ExecWriteResult {
  readonly status: 'accepted' | 'unknownProcess' | 'stdinClosed' | 'starting'
}

export interface ExecReadParams {
  readonly processId: string
  readonly afterSeq?: number | null
  readonly maxBytes?: number | null
  readonly waitMs?: number | null
}

export type ExecStream = 'stdout' | 'stderr' | 'pty'

export interface ExecChunk {
  readonly seq: number
  readonly stream: ExecStream
  /** Base64. */
  readonly chunk: string
}

export interface ExecReadResult {
  readonly chunks: readonly ExecChunk[]
  readonly nextSeq: number
  readonly exited: boolean
  readonly exitCode: number | null
  readonly closed: boolean
  readonly failure: string | null
  readonly sandboxDenied: boolean
}

export interface ExecSignalParams {
  readonly processId: string
  readonly signal: 'interrupt'
}

export interface ExecTerminateParams {
  readonly processId: string
}

export interface ExecTerminateResult {
  readonly running: boolean
}

export interface ExecOutputEvent extends ExecChunk {
  readonly processId: string
}

export interface ExecExitedEvent {
  readonly processId: string
  readonly seq: number
  /** 128 + N after death by signal N. */
  readonly exitCode: number
  readonly sandboxDenied?: boolean | null
}

export interface ExecClosedEvent {
  readonly processId: string
  readonly seq: number
}
