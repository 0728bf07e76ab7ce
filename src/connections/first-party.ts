import { type AuthContext, type AuthIdentity, type AuthManager, authIdentity, sameIdentity } from '../auth/index.js'
import type { EffectiveServer } from '../catalog/index.js'
import { usesFirstParty } from '../transports/index.js'
import { canonicalJson } from './canonical.js'
import type { ConnectionIdentity } from './identity.js'
import type { HostVariables } from './referenced-variables.js'

/** The part of a thread's first-party auth in this server's connection: none for those that don't use it. */
export function firstPartyOf(
  { config }: EffectiveServer,
  auth: AuthContext | undefined,
  env: HostVariables,
): { readonly auth: AuthContext; readonly identity: AuthIdentity } | undefined {
  if (auth === undefined || !usesFirstParty(config, env)) return undefined
  return { auth, identity: authIdentity(auth.mode, auth.manager.current()) }
}

/** Whether a connection was made for this very account, source and mode. */
export function sameFirstParty({ fields }: ConnectionIdentity, identity: AuthIdentity): boolean {
  return canonicalJson(fields.firstParty ?? null) === canonicalJson(identity)
}

/** Tells apart whose first-party auth a connection has: managers, modes and bindings, never what they hold. */
export class Accounts {
  readonly #managers = new WeakMap<AuthManager, number>()
  #last = 0

  of(auth: AuthContext | undefined): readonly unknown[] {
    if (auth === undefined) return []
    const known = this.#managers.get(auth.manager)
    if (known !== undefined) return [known, auth.mode, auth.binding]
    this.#last += 1
    this.#managers.set(auth.manager, this.#last)
    return [this.#last, auth.mode, auth.binding]
  }
}

/**
 * Calls `rebuild` when the account of a runtime mode got another credential: what signs belongs to the old one (reference:
 * runtime-auth, 8). Until the returned function is called.
 */
export function followCredential({ mode, manager }: AuthContext, rebuild: () => void): () => void {
  if (mode === 'off') return () => {}
  return manager.subscribe(({ before, after }) => {
    if (before.state !== 'signed_in' || after.state !== 'signed_in' || before.key === after.key) return
    if (sameIdentity(before.identity, after.identity)) rebuild()
  })
}
