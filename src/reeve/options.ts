import type { CredentialSource } from '../auth/index.js'
import type { AnalyticsSettings } from '../config/index.js'
import type { HomeCredentials, ReeveHost, ReeveHostOptions } from '../host/index.js'

export interface ReeveOptions extends ReeveHostOptions {
  /** Read instead of the user's and the project's configuration; later files win. */
  readonly configFiles?: readonly string[]
  /** Where a project's configuration is looked for, and where local servers without `cwd` run. Default: `process.cwd()`. */
  readonly cwd?: string
  /** Over those of the configuration. */
  readonly features?: Readonly<Record<string, boolean>>
  /** Under those of the configuration: what holds where it says nothing. */
  readonly featureDefaults?: Readonly<Record<string, boolean>>
  /**
   * Makes `Reeve.auth`, for whoever hands it on to threads: of a source, or of who is signed in to the home. Absent: nobody
   * is signed in to the first-party backend.
   */
  readonly credentials?: CredentialSource | HomeCredentials
  /** Over `[analytics]` of the configuration: whether, and where, calls are told. Default: off. */
  readonly analytics?: AnalyticsSettings
  /** Shared with other runtimes of this process, whose home and variables are then this one's. Default: one of its own. */
  readonly host?: ReeveHost
}
