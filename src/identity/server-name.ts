import { InvalidServerNameError } from '../errors.js'
import { type ServerKey, serverKey } from './key.js'

const PATTERN = /^[a-zA-Z0-9_:@/.-]+$/

/** Reserved for hosted apps; an environment may not contribute it (reference: identity-and-names, 1). */
export const HOSTED_APPS_NAME = 'codex_apps'

/** Whether a server of this name can start. Names are free at load, so configuration only warns. */
export function isServerName(name: string): boolean {
  return PATTERN.test(name)
}

/**
 * Checked when a server starts, not at load (reference: identity-and-names, 1).
 *
 * @throws {InvalidServerNameError} naming the key
 */
export function checkServerName(name: string, key: ServerKey = serverKey(name)): void {
  if (!isServerName(name)) throw new InvalidServerNameError(name, key)
}
