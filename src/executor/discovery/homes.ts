import { stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import type { Variables } from '../processes/env-policy.js'
import { internal } from '../wire/fault.js'

/** The folders that hold configuration and plugins of this machine, the weaker first. @throws RpcError -32603 */
export type Homes = () => Promise<readonly [codex: string, ...others: string[]]>

/** `$CODEX_HOME` and `$REEVE_HOME`, by default below the user's home. One that is named must be there. */
export function homesOf(variables: Variables): Homes {
  return async () => {
    const codex = await home('CODEX_HOME', '.codex', variables)
    const reeve = await home('REEVE_HOME', '.reeve', variables)
    return codex === reeve ? [codex] : [codex, reeve]
  }
}

async function home(variable: string, byDefault: string, variables: Variables): Promise<string> {
  const named = variables[variable]
  if (named === undefined || named === '') return join(userHome(variables), byDefault)
  const found = await stat(named).catch(() => undefined)
  if (!found?.isDirectory()) throw internal(`${variable} names a folder that is not there`)
  return resolve(named)
}

export function userHome(variables: Variables): string {
  const named = process.platform === 'win32' ? variables.USERPROFILE : variables.HOME
  return named !== undefined && isAbsolute(named) ? named : homedir()
}
