import { access, constants, stat } from 'node:fs/promises'
import { SandboxCommandError } from '../../errors.js'

/** Where systems install bubblewrap. The search path is not asked: whoever sets it would choose what confines a command. */
export const BWRAP_PLACES = Object.freeze([
  '/usr/bin/bwrap',
  '/usr/local/bin/bwrap',
  '/bin/bwrap',
  '/run/current-system/sw/bin/bwrap',
])

/** The first bubblewrap there is. Throws `SandboxCommandError` `sandbox_unsupported`, which says how to install it. */
export async function findBwrap(places: readonly string[] = BWRAP_PLACES): Promise<string> {
  for (const place of places) if (await isProgram(place)) return place
  throw new SandboxCommandError(
    'sandbox_unsupported',
    `bubblewrap is not installed (looked at ${places.join(', ')}): sudo apt-get install bubblewrap`,
  )
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK)
    return (await stat(path)).isFile()
  } catch {
    return false
  }
}
