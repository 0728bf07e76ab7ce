import type { ReeveError } from '../errors.js'
import type { EnvironmentId } from '../identity/index.js'
import type {
  ExecDirectoryEntry,
  ExecEnvironmentInfo,
  ExecMetadata,
  ExecMethod,
  ExecPathStyle,
} from '../protocol/index.js'

/** A place to run things: the host (`local`), or what an executor gives access to. */
export interface Environment {
  readonly id: EnvironmentId
  readonly kind: 'local' | 'executor'
  spawn(request: SpawnRequest): Promise<EnvironmentProcess>
  readonly http: HttpClient
  readonly files: EnvironmentFiles
  /**
   * Of executors alone: the same files as a sandbox lets them be seen, in the wire shape of the protocol (reference:
   * executor-protocol, 8.1). What the executor can't enforce it refuses, with `RpcError`.
   */
  filesUnder?(sandbox: object): EnvironmentFiles
  readonly state: EnvironmentState
  /** Tells every later state. Returns what ends that. */
  onstate(listener: (state: EnvironmentState) => void): () => void
  /** What it says of itself, connecting when needed. Bounded. Raises `EnvironmentError`, `ClosedError`. */
  info(): Promise<ExecEnvironmentInfo>
  /** Whose rules paths, quoting and working directories follow there. As `info`. */
  pathStyle(): Promise<ExecPathStyle>
  /**
   * Of executors alone: what the protocol has beside processes, HTTP and files, e.g. `capabilityRoots/discoverV1`. Newer
   * methods only where `info` has their flag. The answer may be anything. Raises `RpcError`, and what `files` raises.
   */
  ask?(method: ExecMethod, params: unknown, options?: AskOptions): Promise<unknown>
  close(): Promise<void>
}

export interface AskOptions {
  /** Milliseconds; 30,000. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

/** What is known of an environment; the host is always ready. Times are milliseconds since 1970. */
export type EnvironmentState =
  | { readonly is: 'idle' }
  | { readonly is: 'connecting'; readonly since: number }
  | { readonly is: 'ready'; readonly since: number; readonly info: ExecEnvironmentInfo }
  | { readonly is: 'recovering'; readonly since: number; readonly error: ReeveError }
  | { readonly is: 'failed'; readonly since: number; readonly error: ReeveError }
  | { readonly is: 'closed' }

/**
 * Files of an environment, for reading what it offers (reference: executor-protocol, 8). Paths are absolute, in the
 * environment's style. Raises `InvalidArgumentsError` for other paths, `RpcError` (-32004: not there; -32600: not of that
 * kind, or not allowed), `LimitExceededError`, `EnvironmentError`, `CancelledError`.
 */
export interface EnvironmentFiles {
  /** A file larger than `limit` bytes (16 MiB) raises `LimitExceededError`. */
  readFile(path: string, options?: { readonly limit?: number; readonly signal?: AbortSignal }): Promise<Buffer>
  metadata(path: string, signal?: AbortSignal): Promise<ExecMetadata>
  readDirectory(path: string, signal?: AbortSignal): Promise<readonly ExecDirectoryEntry[]>
  /** Where the path leads once every link is followed. */
  canonicalize(path: string, signal?: AbortSignal): Promise<string>
  /** With the folders above it; one that is there already is fine. */
  createDirectory?(path: string, signal?: AbortSignal): Promise<void>
}

export interface SpawnRequest {
  readonly program: string
  readonly args: readonly string[]
  /** The whole environment of the child: nothing is inherited beside it. */
  readonly env: Readonly<Record<string, string>>
  readonly cwd?: string
  /** For the orphan journal and error texts, e.g. the display form of a server key. */
  readonly label: string
  readonly signal?: AbortSignal
  /**
   * For executors only: names of variables that are read there (reference: connections, 11.1). `env` is laid over them and
   * over what the executor's own environment has of the usual ones.
   */
  readonly executorVariables?: readonly string[]
}

export interface ProcessExit {
  readonly code: number | null
  readonly signal: string | null
  /** Why the process was given up, when it did not end by itself: its executor is gone, or broke the protocol. */
  readonly failure?: ReeveError
}

/** A running process tree. Callbacks are set right after `spawn`, before anything is delivered. */
export interface EnvironmentProcess {
  readonly pid: number | undefined
  onstdout: ((chunk: Buffer) => void) | undefined
  onstderr: ((chunk: Buffer) => void) | undefined
  /** Resolves when stdin took the bytes (back-pressure); rejects when stdin is gone. */
  write(data: string | Buffer): Promise<void>
  closeStdin(): void
  /** Resolves once, after the process ended and both pipes are drained. Never rejects. */
  readonly exited: Promise<ProcessExit>
  /** Stdin closed, then TERM to the whole tree, then KILL. Bounded; idempotent; also ends grandchildren after a normal exit. */
  terminate(): Promise<ProcessExit>
}

/** One HTTP exchange through an environment (reference: connections, 10.3). Never follows a redirect by itself. */
export interface HttpClient {
  request(request: HttpRequest): Promise<HttpResponse>
  close(): Promise<void>
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly url: string
  /** In wire order; names as they shall appear. */
  readonly headers: readonly (readonly [string, string])[]
  readonly body?: string | Uint8Array
  /** The headers hold what configuration or credentials gave: they are for nobody but the server. */
  readonly isConfidential?: boolean
  /** For executors only: headers whose value ends with that of a variable there, so that the secret stays there. */
  readonly executorHeaders?: readonly ExecutorHeader[]
  /** Aborts the exchange, the body stream included. */
  readonly signal?: AbortSignal
}

/** `{ name: 'Authorization', prefix: 'Bearer ', variable: 'NOTES_TOKEN' }` */
export interface ExecutorHeader {
  readonly name: string
  readonly prefix: string
  readonly variable: string
}

export interface HttpResponse {
  readonly status: number
  /** Lower-case name; repeated fields stay separate. */
  header(name: string): string | undefined
  headerAll(name: string): readonly string[]
  /** Must be consumed or cancelled. */
  readonly body: AsyncIterable<Buffer>
  /** Drops the rest of the body and frees the socket. */
  cancel(): void
}
