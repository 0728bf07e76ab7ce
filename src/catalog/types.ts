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
