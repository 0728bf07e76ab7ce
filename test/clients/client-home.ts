import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ROOT } from './peers.js'

/** A client's own HOME and the clean environment that goes with it. */
export interface ClientHome extends AsyncDisposable {
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
}

/** For clients that would phone home: what they want from outside fails at once, on every machine alike. */
export const NO_WAY_OUT = Object.freeze({
  HTTP_PROXY: 'http://127.0.0.1:9',
  HTTPS_PROXY: 'http://127.0.0.1:9',
  NO_PROXY: '127.0.0.1,localhost',
})

/**
 * Lies in the project's cache and not in the temporary folder, since Codex refuses to work from a home directly under a
 * world-writable one.
 */
export async function clientHome(name: string): Promise<ClientHome> {
  const homes = join(ROOT, '.cache', 'homes')
  await mkdir(homes, { recursive: true })
  const folder = await mkdtemp(join(homes, `${name}-`))
  return {
    folder,
    env: {
      PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
      HOME: folder,
      LANG: 'C.UTF-8',
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  }
}
