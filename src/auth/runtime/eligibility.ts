import { AUTH_OWNED, type HeaderField } from '../header-field.js'
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
 * Configured headers of a server that may be asked for: in the runtime modes nothing of what is ours is left but a place for
 * it; with the feature off a configured assertion passes. Source: reference, runtime-auth 4.2.
 *
 * @param given what the auth room gives for the same request: a field with a new value keeps its early place.
 */
export function underAuth(
  configured: readonly HeaderField[],
  given: readonly HeaderField[],
  mode: RuntimeAuthMode,
): HeaderField[] {
  const ours = new Map(given.map(([name, value]) => [name.toLowerCase(), value]))
  return configured.flatMap(([name, value]): HeaderField[] => {
    const lower = name.toLowerCase()
    const replacing = ours.get(lower)
    if (replacing !== undefined) return [[name, replacing]]
    return AUTH_OWNED.has(lower) && mode !== 'off' ? [] : [[name, value]]
  })
}

/** Configured fields that must not reach the wire on an eligible connection of this mode, taken out before it is opened. */
export function withoutOwned(configured: readonly HeaderField[], mode: RuntimeAuthMode): HeaderField[] {
  if (mode === 'off') return [...configured]
  const goes = mode === 'assertion_only' ? ['x-openai-agent-assertion', 'x-openai-fedramp'] : ['x-openai-fedramp']
  return configured.filter(([name]) => !goes.includes(name.toLowerCase()))
}
