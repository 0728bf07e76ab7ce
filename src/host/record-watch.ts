import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type AccountIdentity, type AuthManager, sameIdentity } from '../auth/index.js'

/** Milliseconds between two looks at what other processes did with the record of the home. */
const LOOK = 1_000
/** Where a login is kept, by store. */
const RECORDS = ['auth.json', 'auth.sealed.json'] as const

/**
 * Has a logout that another process made count here, too; its login as well, while nobody is signed in here. Until the
 * returned function is called.
 */
export function watchRecord(home: string, manager: AuthManager, report: (problem: Error) => void): () => void {
  let last: string | undefined
  let isLooking = false
  const later = new LaterLogin(manager)
  const unsubscribe = manager.subscribe(({ after, cause }) => {
    if (after.state === 'signed_out') later.begin(cause === 'reload')
  })
  const look = async () => {
    if (isLooking) return
    isLooking = true
    try {
      const now = (await Promise.all(RECORDS.map((name) => traceOf(join(home, name))))).join(' ')
      // A record that came and went between two looks is gone all the same.
      const isGone = now === ABSENT && isStored(manager)
      const isAnother = last !== undefined && now !== last
      // Before the reload: one that fails is told once.
      last = now
      if (isGone || isAnother) await manager.reload()
      if (isAnother && manager.current().state === 'signed_out') await later.look()
    } catch (error) {
      if (error instanceof Error) report(error)
    } finally {
      isLooking = false
    }
  }
  const timer = setInterval(() => void look(), LOOK)
  timer.unref()
  // What changes before the first tick is told by what it was now.
  void look()
  return () => {
    clearInterval(timer)
    unsubscribe()
  }
}

/**
 * Tells a login that was made elsewhere from a record that was there when somebody signed out here: that one may be another
 * account's, which nobody asked for, and a refresh of it is no login.
 */
class LaterLogin {
  readonly #manager: AuthManager
  /** Whose record is known to be no new login; undefined: it could not be read, and whatever it is then is none. */
  #known: Promise<AccountIdentity | null | undefined> = Promise.resolve(null)

  constructor(manager: AuthManager) {
    this.#manager = manager
  }

  begin(isGone: boolean): void {
    this.#known = isGone ? Promise.resolve(null) : this.#manager.kept().catch(() => undefined)
  }

  async look(): Promise<void> {
    const known = await this.#known
    const now = await this.#manager.kept()
    this.#known = Promise.resolve(now)
    if (now !== null && isNewLogin(known, now)) await this.#manager.adoptKept(now)
  }
}

function isNewLogin(known: AccountIdentity | null | undefined, now: AccountIdentity): boolean {
  if (known === null) return true
  // Where tokens name nobody, a refresh looks like somebody else.
  if (known === undefined || (known.principal !== null && now.principal !== null)) return false
  return !sameIdentity(known, now)
}

const NOTHING = '-'
const ABSENT = RECORDS.map(() => NOTHING).join(' ')

function isStored(manager: AuthManager): boolean {
  const now = manager.current()
  return now.state === 'signed_in' && now.source.kind === 'stored'
}

/** Another text for another content; a record is replaced as a whole. */
async function traceOf(file: string): Promise<string> {
  try {
    const { ino, mtimeMs, size } = await stat(file)
    return `${ino}:${mtimeMs}:${size}`
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    return code === 'ENOENT' ? NOTHING : code
  }
}
