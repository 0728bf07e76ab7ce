import type { Clock } from '../clock.js'
import type { CredentialSource } from '../sources/credential-source.js'
import { refreshFailed } from '../sources/token-endpoint.js'

/** What the first source that has something gives; rejects as soon as one can't be read. */
export async function firstLoaded(sources: readonly CredentialSource[]) {
  for (const source of sources) {
    const credential = await source.load()
    if (credential !== null) return { credential, source }
  }
  return undefined
}

/** Alone among all processes, where the source can do that. */
export function exclusively<T>(source: CredentialSource, work: () => Promise<T>): Promise<T> {
  return source.exclusively === undefined ? work() : source.exclusively(work)
}

/** How long a host may take to give a new credential, milliseconds. What comes later is not used. */
const HOST_MS = 45_000

/** Rejects with `refresh_failed` when a host takes longer. */
export async function inTime<T>(work: Promise<T>, clock: Clock): Promise<T> {
  let cancel: () => void = () => undefined
  const late = new Promise<never>((_, reject) => {
    const error = refreshFailed('other', false, 'the host took too long')
    cancel = clock.after(HOST_MS, () => reject(error))
  })
  try {
    return await Promise.race([work, late])
  } finally {
    cancel()
  }
}
