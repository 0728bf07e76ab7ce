import { homedir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import type { Environment } from './expand.js'

/** Reeve's folder: `$REEVE_HOME`, else `.reeve` in the user's home. Absolute. */
export function reeveHome(environment: Environment = process.env): string {
  const named = environment.REEVE_HOME
  return named === undefined || named === '' ? join(userHome(environment), '.reeve') : resolve(named)
}

/** The user's home folder as the environment names it, so that tests and containers can move it. */
export function userHome(environment: Environment = process.env): string {
  const named = process.platform === 'win32' ? environment.USERPROFILE : environment.HOME
  return named !== undefined && isAbsolute(named) ? named : homedir()
}

/**
 * A further requirements file, by its absolute path. It can only demand more: what stands in the administrator's holds
 * all the same.
 */
export const FURTHER_REQUIREMENTS = 'REEVE_REQUIREMENTS'

/** Where the administrator's requirements stand. */
export function managedRequirementsFile(environment: Environment = process.env): string {
  if (process.platform === 'win32')
    return join(environment.ProgramData ?? 'C:\\ProgramData', 'reeve', 'requirements.toml')
  return '/etc/reeve/requirements.toml'
}
