import type { CacheHint } from '../connections/index.js'
import type { ServerKey } from '../identity/index.js'
import type { JsonObject } from '../protocol/index.js'
import type { CallOptions } from './step-surface.js'

/** Names one server. `environment` absent: thread-wide first, else the only owner, else refused with the choices. */
export interface ServerSelector {
  readonly server: string
  readonly environment?: string | null
}

export interface ListPage {
  readonly key: ServerKey
  /** The items as the server sent them. */
  readonly items: readonly JsonObject[]
  readonly nextCursor?: string
  /** Absent for legacy servers, which say nothing of it. */
  readonly cacheHint?: CacheHint
}

/** Everything but tools, always by exact key. `listAll` asks ready servers in parallel; failed ones are reported aside. */
export interface Listing {
  list(selector: ServerSelector & { readonly cursor?: string }, options?: CallOptions): Promise<ListPage>
  listAll(options?: ListAllOptions): Promise<AllPages>
}

export interface ListAllOptions extends CallOptions {
  /** Which servers are waited for while they come up, as in a step. Default `grace`. */
  readonly wait?: 'grace' | 'none' | 'all'
  /**
   * Milliseconds after which there is an answer whatever is missing. A server that was not heard by then, or whose
   * environment is on its way back, is answered for by what it listed last. Absent: environments are looked into, and
   * servers have 30 s.
   */
  readonly withinMs?: number
}

export interface AllPages {
  readonly pages: readonly ListPage[]
  readonly failures: readonly { readonly key: ServerKey; readonly error: string }[]
  /** False while a server is coming up, or was answered for: another listing may say more. */
  readonly isWhole: boolean
}

export interface Resources extends Listing {
  readonly templates: Listing
  /** The `ReadResourceResult`, whole. */
  read(
    selector: ServerSelector & { readonly uri: string; readonly _meta?: JsonObject },
    options?: CallOptions,
  ): Promise<JsonObject>
  subscribe(selector: ServerSelector & { readonly uri: string }, options?: CallOptions): Promise<void>
  unsubscribe(selector: ServerSelector & { readonly uri: string }, options?: CallOptions): Promise<void>
}

export interface Prompts extends Listing {
  get(
    selector: ServerSelector & {
      readonly name: string
      readonly arguments?: JsonObject
      readonly _meta?: JsonObject
    },
    options?: CallOptions,
  ): Promise<JsonObject>
}
