import type { AppPolicy } from './app-policy.js'
import type { EnvironmentSections } from './environments/read-sections.js'
import type { GatewayAuthSettings } from './gateway-auth.js'
import type { HookSettings } from './hooks/settings.js'
import type { PermissionSections } from './permissions/settings.js'
import type { RuntimeAuthMode } from './runtime-auth-mode.js'
import type { ApprovalMode, ConfigProblem, ConfiguredServer, ToolSettings } from './server.js'

/** Host policy for one server of a plugin; never its transport (reference: catalog, 5). Absent = as the plugin says. */
export interface PluginServerPolicy {
  readonly enabled?: boolean
  readonly defaultToolsApprovalMode?: ApprovalMode
  readonly enabledTools?: readonly string[]
  readonly disabledTools?: readonly string[]
  readonly tools?: Readonly<Record<string, ToolSettings>>
}

/** `[plugins."<id>"]`. */
export interface PluginPolicy {
  /** As written; a plugin installed on an executor counts only when the host says true. */
  readonly enabled?: boolean
  /** Environments in which this policy may also loosen (known-quirks, row 30): of the user's own files alone. */
  readonly trustedIn?: readonly string[]
  readonly servers: ReadonlyMap<string, PluginServerPolicy>
}

/** The `mcp_oauth_*` members, and `cli_auth_credentials_store`. */
export interface OAuthSettings {
  /** Where the first-party login is kept. */
  readonly firstPartyStore?: 'auto' | 'file' | 'keyring' | 'ephemeral'
  readonly credentialsStore?: 'auto' | 'file' | 'keyring'
  readonly callbackPort?: number
  readonly callbackUrl?: string
}

/** `[broker]`. */
export interface BrokerSettings {
  /** Milliseconds without a client after which it ends. */
  readonly idleMs?: number
}

/** `[audit]`. Absent members are up to the room that keeps it. */
export interface AuditSettings {
  /** `on`: written behind; `strict`: on disk before a result is handed over; `off`: not kept. */
  readonly mode?: 'on' | 'strict' | 'off'
  readonly keepDays?: number
  /** Megabytes (2^20) of what is kept. */
  readonly maxMb?: number
  /** Whether arguments and results are kept by their digest alone. */
  readonly arguments?: 'digest' | 'whole'
}

/** `[analytics]`. */
export interface AnalyticsSettings {
  readonly enabled?: boolean
  /** Base of the place that events go to; empty: none. */
  readonly endpoint?: string
}

/** What one file says, after reading; nothing is merged yet. */
export interface FileSettings {
  readonly servers: readonly ConfiguredServer[]
  /** Names whose entry is an error: they hide the same name of lower layers rather than fall back to it. */
  readonly broken: ReadonlySet<string>
  readonly features: ReadonlyMap<string, boolean>
  readonly runtimeAuthMode: RuntimeAuthMode | undefined
  readonly plugins: ReadonlyMap<string, PluginPolicy>
  /** By connector id. */
  readonly apps: ReadonlyMap<string, AppPolicy>
  readonly hooks: HookSettings
  readonly audit: AuditSettings
  readonly analytics: AnalyticsSettings
  readonly oauth: OAuthSettings
  readonly broker: BrokerSettings
  /** `[gateway.auth]`. */
  readonly gatewayAuth?: GatewayAuthSettings
  /** `auto`, `none` or an absolute path; absent: `auto`. */
  readonly launcher?: string
  readonly environments: EnvironmentSections
  readonly permissions: PermissionSections
  readonly suppressUnstableFeaturesWarning: boolean | undefined
  /** Folder → trust level, of the user's file alone. */
  readonly projects: ReadonlyMap<string, 'trusted' | 'untrusted'>
  readonly problems: readonly ConfigProblem[]
}
