import { isScope, readChallenges } from '../../auth/index.js'

/** A Bearer challenge that asks for more scopes. `scope` is absent when the server's was unusable. */
export interface ScopeChallenge {
  readonly scope?: string
}

/**
 * The first Bearer challenge with `error="insufficient_scope"` in any `WWW-Authenticate` field, also behind challenges
 * of other schemes. Source: reference, connections 10.6.
 */
export function insufficientScope(fields: readonly string[]): ScopeChallenge | undefined {
  for (const field of fields) {
    for (const challenge of readChallenges(field)) {
      if (challenge.scheme !== 'bearer' || challenge.values.get('error') !== 'insufficient_scope') continue
      const scope = challenge.values.get('scope')
      return typeof scope === 'string' && isScope(scope) ? { scope } : {}
    }
  }
  return undefined
}
