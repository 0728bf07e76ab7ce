import type { HeaderField } from '../header-field.js'
import type { RuntimeAuthMode } from './mode.js'

export interface ServerFacts {
  /** The setting of the server's entry. */
  readonly auth: 'oauth' | 'chatgpt' | 'ema_auth' | null
  readonly environmentId: string
  readonly hasBearerVariable: boolean
  /** `http_headers` and those of variables, as they will be sent. */
  readonly headers: readonly HeaderField[]
}

/**
 * How first-party auth stands to a server: `ours` when it may be asked; `own` when the server brings its own
 * `Authorization`, which stays entirely alone; `none` for every other. Whether the URL is a first-party one is decided for
 * each request. Source: reference, auth 2.5; runtime-auth 4.2.
 */
export function eligibilityOf({
  auth,
  environmentId,
  hasBearerVariable,
  headers,
}: ServerFacts): 'ours' | 'own' | 'none' {
  if (hasBearerVariable || headers.some(([name]) => name.toLowerCase() === 'authorization')) return 'own'
  return auth === 'chatgpt' && environmentId === 'local' ? 'ours' : 'none'
}

/**
 * The configured headers that a transport may lay under the auth room's own: all, for a server that is not `ours`. Of ours,
 * a field that auth gives anew stays, so that its value replaces it in its early place; one that it would not replace in
 * this mode goes. With the feature off a configured assertion passes. Source: reference, runtime-auth 4.2.
 */
export function withoutOwned(configured: readonly HeaderField[], mode: RuntimeAuthMode): HeaderField[] {
  if (mode === 'off') return [...configured]
  const goes = mode === 'assertion_only' ? ['x-openai-agent-assertion', 'x-openai-fedramp'] : ['x-openai-fedramp']
  return configured.filter(([name]) => !goes.includes(name.toLowerCase()))
}
