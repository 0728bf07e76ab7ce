import type { ServerConfig } from '../config/index.js'
import type { ServerKey } from '../identity/index.js'

/** Who contributed a registration (reference: catalog, 2). Higher tier wins; the order rule inside a tier is the source's. */
export type RegistrationSource =
  | { readonly kind: 'host_plugin'; readonly order: number; readonly plugin: PluginAttribution }
  | { readonly kind: 'selected_plugin'; readonly order: number; readonly plugin: PluginAttribution }
  | { readonly kind: 'config' }
  | { readonly kind: 'compatibility'; readonly id: string }
  | { readonly kind: 'extension'; readonly id: string; readonly order: number; readonly hostOwnedApps: boolean }

export interface PluginAttribution {
  readonly id: string
  readonly displayName: string
  readonly agentPlugin: boolean
  /** Folder of a host plugin, as a `file:` URI. */
  readonly hostRoot?: string
}

/** Handed to the catalog builder. */
export interface Registration {
  readonly key: ServerKey
  readonly source: RegistrationSource
  readonly config: ServerConfig
}

/** A winning registration after overlays, requirements and environment authority. */
export interface EffectiveServer {
  readonly key: ServerKey
  readonly config: ServerConfig
  readonly source: RegistrationSource
}

/** Takes a server out of the catalog, with the precedence of a registration of that source. */
export interface Removal {
  readonly key: ServerKey
  readonly source:
    | { readonly kind: 'compatibility'; readonly id: string }
    | { readonly kind: 'extension'; readonly id: string; readonly order: number }
}

/** What a builder collects, in the order in which it came. */
export type CatalogAction =
  | { readonly kind: 'register'; readonly registration: Registration }
  | { readonly kind: 'remove'; readonly removal: Removal }

/** An action without its config, for reports. */
export type Contender =
  | { readonly kind: 'register'; readonly key: ServerKey; readonly source: RegistrationSource }
  | { readonly kind: 'remove'; readonly key: ServerKey; readonly source: Removal['source'] }

/** Two or more actions of one tier on one server. An override across tiers is none (reference: catalog, 3.1). */
export interface Conflict {
  readonly key: ServerKey
  readonly tier: number
  /** The winner over all tiers. */
  readonly outcome: Contender
  /** Weaker first. */
  readonly contenders: readonly Contender[]
}

export interface CatalogOptions {
  /** `multi_environment_mcp`: one registration a key. Off, as by default: one a name, over all environments. */
  readonly multiEnvironment?: boolean
  /** Hide scoped servers behind a thread-wide one of their name, also behind a disabled one, as the reference does. */
  readonly compatibility?: boolean
}

/** A server that is not in the catalog because another one stands in its place. */
export interface ShadowedServer {
  readonly registration: Registration
  readonly by: ServerKey
}

/** Something worth telling that stops nothing. One per key and cause. */
export interface CatalogProblem {
  readonly code:
    | 'hidden_by_thread_wide'
    | 'dropped_same_name'
    | 'reserved_name'
    | 'overridden_in_environment'
    | 'root_conflict'
    | 'unselected_environment'
    | 'root_report_refused'
    | 'plugin_conflict'
  readonly key?: ServerKey
  readonly message: string
}
