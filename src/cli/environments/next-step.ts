import { type EnvironmentEntry, shellWord } from '../../config/index.js'
import type { ReeveError } from '../../errors.js'
import { shownWay } from './shown.js'

/** What to do about an environment that could not be used. */
export function environmentNextStep(
  { code, data }: Pick<ReeveError, 'code' | 'data'>,
  entry: EnvironmentEntry | undefined,
): string | undefined {
  if (entry === undefined) return undefined
  const { id, connection } = entry
  if (connection.kind === 'command') return commandStep(entry, connection.program)
  if (code === 'environment_unauthorized') {
    const variable = data?.variable ?? connection.bearerTokenEnvVar
    if (variable !== undefined) return `set the variable ${variable} to the token that its executor accepts`
    return `give its token: reeve env add ${shellWord(id)} --url ${shellWord(shownWay(entry))} --token-env VARIABLE`
  }
  return `is its executor running and reachable? On that machine: reeve executor --listen ${listenUrl(connection.url)}`
}

function commandStep(entry: EnvironmentEntry, program: string): string {
  const byHand = `run it by hand to see what it says: ${shownWay(entry)}`
  if (!/(^|[\\/])ssh(\.exe)?$/.test(program)) return byHand
  return `${byHand} (a login without questions must work, and reeve must be on the PATH of commands there)`
}

/** A tunnel or a proxy may stand between: only the port is taken from the URL. */
function listenUrl(url: string): string {
  const { port, hostname } = new URL(url)
  return `ws://${/^127\.|^localhost$|^\[::1\]$/.test(hostname) ? '127.0.0.1' : 'IP'}:${port === '' ? 'PORT' : port}`
}
