import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { AuthManager } from '../auth/index.js'

/** Milliseconds between two looks at what other processes did with the record of the home. */
const LOOK = 1_000
/** Where a login is kept, by store. */
const RECORDS = ['auth.json', 'auth.sealed.json'] as const

/**
 * Has a logout that another process made count here, too; its login as well, while nobody was signed in here. Until the
 * returned function is called.
 */
export function watchRecord(home: string, manager: AuthManager, report: (problem: Error) => void): () => void {
  let last: string | undefined
  let isLooking = false
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
    } catch (error) {
      if (error instanceof Error) report(error)
    } finally {
      isLooking = false
    }
  }
  const timer = setInterval(() => void look(), LOOK)
  timer.unref()
  return () => clearInterval(timer)
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
