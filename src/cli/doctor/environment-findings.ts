import { stat } from 'node:fs/promises'
import { type ConfigOrigin, type EnvironmentEntry, type LoadedConfig, nearest, shellWord } from '../../config/index.js'
import { serverKey } from '../../identity/index.js'
import type { Cli } from '../cli.js'
import { environmentNextStep } from '../environments/next-step.js'
import { probeEnvironments } from '../environments/probe.js'
import type { Finding } from './finding.js'

/** What is wrong with environments without connecting to any. */
export async function environmentFindings(config: LoadedConfig, env: Cli['env']): Promise<Finding[]> {
  const { entries } = config.environments
  const readable = await Promise.all(entries.filter(holdsSecret).map(readableFinding))
  return [
    ...unknownOfServers(config),
    ...unknownOfRoots(config),
    ...entries.flatMap((entry) => unsetToken(entry, env)),
    ...readable.flat(),
  ]
}

/** What connecting to each of these environments shows; those whose token is known to be missing are left out. */
export async function connectionFindings(
  cli: Cli,
  { environments }: Pick<LoadedConfig, 'environments'>,
  ids: readonly string[],
): Promise<Finding[]> {
  const tried = environments.entries.filter(
    (entry) => ids.includes(entry.id) && unsetToken(entry, cli.env).length === 0,
  )
  const probed = await probeEnvironments(
    cli,
    environments,
    tried.map(({ id }) => id),
  )
  return probed.flatMap((one): Finding[] => {
    if (one.ok || one.entry === undefined) return []
    const mend = environmentNextStep(one.error, one.entry)
    const { code, message } = one.error
    const place = placeOf(one.entry)
    return [{ severity: 'error', code, message, place, environment: one.id, ...(mend !== undefined && { mend }) }]
  })
}

function unknownOfServers({ servers, environments }: LoadedConfig): Finding[] {
  const known = environments.entries.map(({ id }) => id)
  return servers.flatMap(({ name, config, origin }): Finding[] => {
    const { environmentId: id } = config
    if (!config.enabled || id === 'local' || known.includes(id)) return []
    return [
      {
        severity: 'error',
        code: 'unknown_environment',
        message: `there is no environment \`${id}\`: the server cannot start`,
        place: `${at(origin)} mcp_servers.${name}.environment_id`,
        mend: addOrRename(id, known),
        key: serverKey(name),
      },
    ]
  })
}

function unknownOfRoots({ environments: { entries, capabilityRoots } }: LoadedConfig): Finding[] {
  const known = entries.map(({ id }) => id)
  return capabilityRoots.flatMap(({ id, environment, origin }): Finding[] => {
    if (environment === 'local' || known.includes(environment)) return []
    return [
      {
        severity: 'warning',
        code: 'unknown_environment',
        message: `there is no environment \`${environment}\`: the plugin is not used`,
        place: `${at(origin)} capability_roots \`${id}\``,
        mend: addOrRename(environment, known),
      },
    ]
  })
}

function addOrRename(id: string, known: readonly string[]): string {
  const close = nearest(id, known)
  return close === undefined ? `add it: reeve env add ${shellWord(id)} --help` : `did you mean \`${close}\`?`
}

function unsetToken(entry: EnvironmentEntry, env: Cli['env']): Finding[] {
  const { connection } = entry
  const name = connection.kind === 'url' ? connection.bearerTokenEnvVar : undefined
  if (name === undefined || (env[name] ?? '') !== '') return []
  return [
    {
      severity: 'error',
      code: 'token_unset',
      message: `the variable ${name}, which holds its token, is not set`,
      place: placeOf(entry),
      environment: entry.id,
      mend: `set ${name} where reeve and its clients are started`,
    },
  ]
}

function holdsSecret({ connection, written }: EnvironmentEntry): boolean {
  const shown = written ?? connection
  return shown.kind === 'url' ? (shown.bearerToken ?? '') !== '' : Object.keys(shown.env).length > 0
}

/** Rights are no mode bits on Windows. */
async function readableFinding(entry: EnvironmentEntry): Promise<Finding[]> {
  const { file } = entry.origin
  const rights = process.platform === 'win32' ? 0 : (await stat(file)).mode & 0o077
  if (rights === 0) return []
  return [
    {
      severity: 'warning',
      code: 'file_readable',
      message: 'others may read the token or variables in it',
      place: placeOf(entry),
      mend: `chmod 600 ${shellWord(file)}, or name a variable: auth_bearer_token_env_var`,
    },
  ]
}

function placeOf({ id, origin }: EnvironmentEntry): string {
  return `${at(origin)} environments \`${id}\``
}

function at({ file, line }: ConfigOrigin): string {
  return line === undefined ? file : `${file}:${line}`
}
