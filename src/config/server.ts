import type { TokenExchangeSettings } from './token-exchange.js'

/** One server's configuration after parsing (reference: catalog, 1). Immutable; expansion of `${VAR}` is done. */

export type ApprovalMode = 'auto' | 'prompt' | 'writes' | 'approve'

export type EnvVar = string | { readonly name: string; readonly source?: 'local' | 'remote' }

export interface StdioServer {
  readonly type: 'stdio'
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly envVars: readonly EnvVar[]
  readonly cwd?: string
  /** What the server's own process may do. Absent: it runs as any other program does. */
  readonly sandbox?: ServerSandbox
}

/** `danger-full-access` asks for none, and says so. */
export interface ServerSandbox {
  readonly mode: 'read-only' | 'workspace-write' | 'danger-full-access'
  readonly network: boolean
}

export interface HttpServer {
  /** `sse` when a foreign file asks for the old transport by name; otherwise it is found out. */
  readonly type: 'streamable_http' | 'sse'
  readonly url: string
  readonly bearerTokenEnvVar?: string
  readonly httpHeaders: Readonly<Record<string, string>>
  readonly envHttpHeaders: Readonly<Record<string, string>>
  readonly httpHeadersHelper?: string
  readonly oauth?: {
    readonly clientId?: string
    readonly callbackUrl?: string
    readonly callbackPort?: number
    readonly tokenExchange?: TokenExchangeSettings
  }
  readonly oauthResource?: string
  readonly auth: 'oauth' | 'chatgpt' | 'ema_auth'
}

export type ServerTransport = StdioServer | HttpServer

export type DisabledReason = { readonly kind: 'requirements'; readonly source: string }

export interface ToolSettings {
  readonly approvalMode?: ApprovalMode
  readonly outputTokenLimit?: number
}

export interface ServerConfig {
  readonly transport: ServerTransport
  /** Execution environment; `local` when the file says nothing. */
  readonly environmentId: string
  readonly enabled: boolean
  readonly disabledReason?: DisabledReason
  readonly required: boolean
  /** Milliseconds; absent = 30 s. */
  readonly startupTimeoutMs?: number
  /** The era to speak, whatever the server answers to the question; absent: it is found out. */
  readonly protocol?: 'legacy' | 'modern'
  readonly startupReadiness: 'connection' | 'catalog'
  /** Milliseconds; absent = 300 s. */
  readonly toolTimeoutMs?: number
  readonly supportsParallelToolCalls: boolean
  /** `isolated`: every session gets a server of its own, also where sessions share servers. Absent = `auto`. */
  readonly sharing?: 'auto' | 'isolated'
  readonly omitToolsFrom: readonly ('code_mode' | 'deferred' | 'direct')[]
  readonly defaultToolsApprovalMode?: ApprovalMode
  readonly enabledTools?: readonly string[]
  readonly disabledTools?: readonly string[]
  readonly scopes?: readonly string[]
  readonly tools: Readonly<Record<string, ToolSettings>>
  /** What requirements demand of its tools; whatever else stands here, it only tightens. Absent: nothing. */
  readonly managed?: readonly ManagedTools[]
}

/** What one requirements file demands of a server's tools (reference: authority, 1). */
export interface ManagedTools {
  /** The file. */
  readonly source: string
  readonly strictReview: boolean
  readonly defaultMode?: ApprovalMode
  /** By raw name, over the default. */
  readonly tools: Readonly<Record<string, ApprovalMode>>
}

/** Where a server's entry stands, for `list`, `get` and `doctor`. Paths as the user gave them. */
export interface ConfigOrigin {
  readonly file: string
  readonly layer: 'managed' | 'user' | 'project' | 'file' | 'embedded'
  /** 1-based, when the parser knows it. */
  readonly line?: number
}

export interface ConfiguredServer {
  readonly name: string
  readonly config: ServerConfig
  /** As written, before `${VAR}` was replaced, for surfaces that must not show values. Absent when nothing was. */
  readonly written?: ServerConfig
  readonly origin: ConfigOrigin
}

/** Something worth telling that does not stop the rest: an unknown key, a name that can't start, a shadowed entry. */
export interface ConfigProblem {
  readonly severity: 'error' | 'warning'
  readonly code: string
  readonly message: string
  /** `file:line:column member`, as much as is known. */
  readonly place: string
  readonly server?: string
  /** The member, from the root of `config.toml`'s shape (also for files of another shape). Absent for whole files. */
  readonly path?: readonly string[]
  /** Further facts, e.g. `member` and `transport`. Never a secret. */
  readonly data?: Readonly<Record<string, unknown>>
}
