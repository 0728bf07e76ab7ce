import { authIdentity, tokenEndsAt } from '../../auth/index.js'
import type { Reeve } from '../../reeve.js'

/** Who is signed in to the first-party backend, without any secret: the account is a hash. */
export interface SignIn {
  readonly state: 'never' | 'signed_out' | 'signed_in'
  /** What a thread that begins now would send. */
  readonly mode: string
  readonly kind: string | null
  /** The first twelve hexadecimal digits. */
  readonly account: string | null
  /** When the access token ends, where it says so. */
  readonly expires_at: string | null
}

export function signInOf({ auth, config }: Pick<Reeve, 'auth' | 'config'>): SignIn {
  const mode = config.runtimeAuthMode
  const now = auth?.current()
  if (now?.state !== 'signed_in')
    return { state: now?.state ?? 'never', mode, kind: null, account: null, expires_at: null }
  const { source, account } = authIdentity(mode, now)
  const endsAt = tokenEndsAt(now.credential)
  return {
    state: now.state,
    mode,
    kind: source,
    account: account?.slice(0, 12) ?? null,
    expires_at: endsAt === undefined ? null : new Date(endsAt).toISOString(),
  }
}

/** One line for people. */
export function signInLine({ state, mode, kind, account, expires_at: endsAt }: SignIn): string {
  if (state !== 'signed_in') return `first-party backend: nobody is signed in (mode ${mode})`
  const end = endsAt === null ? '' : `, token until ${endsAt}`
  return `first-party backend: signed in with ${kind}, account ${account} (mode ${mode}${end})`
}
