import { OAuthError } from '../../errors.js'
import { scopeList } from './token-endpoint.js'

export interface ScopeSources {
  /** Of this login or of the configuration; an empty list counts (reference: auth, 1.3). */
  readonly explicit?: readonly string[] | undefined
  /** Of the server's challenge. */
  readonly challenged?: string | undefined
  /** Of the metadata of the resource. */
  readonly published?: readonly string[] | undefined
  /** What the authorization server knows of, where it says so. */
  readonly offered?: readonly string[] | undefined
}

export interface ScopeChoice {
  readonly scopes: readonly string[]
  /** They were found in metadata: a server that refuses them may be asked without. */
  readonly discovered: boolean
}

const OFFLINE = 'offline_access'
/** More than this in one step up is a mistake or an attack: nobody could judge it on a consent page. */
export const MAX_SCOPES = 200

/**
 * What to ask for (MCP 2025-11-25, scope selection strategy): what somebody wants, else what the challenge names, else
 * what the resource publishes, else nothing in particular. `offline_access`, without which some servers give no refresh
 * token, is added where the authorization server offers it and the user did not choose (2026-07-28, SEP-2207).
 */
export function chooseScopes({ explicit, challenged, published, offered }: ScopeSources): ScopeChoice {
  if (explicit !== undefined) return { scopes: explicit, discovered: false }
  const wanted = challenged === undefined ? (published ?? []) : scopeList(challenged)
  const offline = offered?.includes(OFFLINE) === true && !wanted.includes(OFFLINE)
  const scopes = offline ? [...wanted, OFFLINE] : wanted
  return { scopes, discovered: scopes.length > 0 }
}

/**
 * What to ask for when a server says that a token has too little: what was granted, and what it asks for.
 *
 * @throws OAuthError `oauth_scope_refused` when all of that was granted already: asking again would change nothing; and
 * when it grows beyond a bound
 */
export function widenScopes(granted: readonly string[], wanted: readonly string[], place: string): readonly string[] {
  if (wanted.every((scope) => granted.includes(scope))) {
    const text = `${place} refuses the scopes it asked for, although they are granted: ${wanted.join(' ') || '(none named)'}`
    throw new OAuthError('oauth_scope_refused', text, { place, data: { granted, asked: wanted } })
  }
  const union = [...new Set([...granted, ...wanted])]
  if (union.length > MAX_SCOPES) {
    const text = `${place} asks for more scopes, step by step, than the ${MAX_SCOPES} that a login may have`
    throw new OAuthError('oauth_scope_refused', text, {
      place,
      data: { granted: granted.length, asked: wanted.length },
    })
  }
  return union
}
