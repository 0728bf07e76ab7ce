import { existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { withTrustProblems } from '../../authority/index.js'
import { configSchema, editing, loadConfig, PROJECT_CONFIG, realPath } from '../../config/index.js'
import type { Cli } from '../cli.js'
import { tellProblems } from '../configuring/configuration.js'
import { type ScopeOption, targetFile } from '../configuring/target.js'
import { UsageError } from '../usage.js'

export interface ConfigOptions extends ScopeOption {
  /** `check`: unknown members are errors. */
  readonly strict?: boolean
  /** `trust`: take the trust back. */
  readonly revoke?: boolean
}

/**
 * `config check | schema | path | trust [FOLDER]`.
 *
 * @throws UsageError, ConfigError
 */
export async function run(
  cli: Cli,
  action: string,
  folder: string | undefined,
  options: ConfigOptions,
): Promise<number> {
  switch (action) {
    case 'check':
      return check(cli, options)
    case 'schema':
      cli.out.json(configSchema())
      return 0
    case 'path':
      return showPath(cli, options)
    case 'trust':
      return trust(cli, folder ?? '.', options)
    default:
      throw new UsageError(`'config ${action}' is not known: check, schema, path or trust`)
  }
}

/** 1 when a problem is an error. */
async function check(cli: Cli, { strict = false }: ConfigOptions): Promise<number> {
  const { home, cwd, env, configFiles } = cli
  const loaded = withTrustProblems(await loadConfig({ home, cwd, env, files: configFiles, strict }))
  const { files, environmentFiles, problems, servers, shadowed } = loaded
  const errors = problems.filter(({ severity }) => severity === 'error').length
  if (cli.json) {
    cli.out.json({ ok: errors === 0, files, servers: servers.map(({ name }) => name), problems, shadowed })
    return errors === 0 ? 0 : 1
  }
  const code = tellProblems(cli, loaded)
  const read = files.filter(({ exists, trusted }) => exists && trusted).map(({ path }) => path)
  const where = read.length === 0 ? 'no configuration file' : [...read, ...environmentFiles].join(', ')
  cli.out.line(
    `${where}: ${counted(servers.length, 'server')}, ${counted(errors, 'error')}, ${counted(problems.length - errors, 'warning')}`,
  )
  return code
}

/** The file that `add` changes, then where environments stand; with `--json` every file that is looked at. */
async function showPath(cli: Cli, options: ConfigOptions): Promise<number> {
  const file = targetFile(cli, options)
  const { home, cwd, env, configFiles } = cli
  const { files, environmentFiles } = await loadConfig({ home, cwd, env, files: configFiles })
  if (cli.json) cli.out.json({ home, file, files, environments: environmentFiles })
  else for (const path of [file, ...environmentFiles]) cli.out.line(path)
  return 0
}

async function trust(cli: Cli, named: string, { revoke = false }: ConfigOptions): Promise<number> {
  const folder = realPath(resolve(cli.cwd, named))
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw new UsageError(`'${folder}' is no folder`)
  const { setTrust } = await editing()
  const level = revoke ? 'untrusted' : 'trusted'
  const changed = await setTrust(join(cli.home, 'config.toml'), folder, level)
  if (cli.json) cli.out.json({ folder, trust_level: level, changed })
  else cli.out.line(`${folder} is ${level}${changed ? ' now' : ' already'}`)
  if (!revoke && !existsSync(join(folder, PROJECT_CONFIG))) cli.err.line(`note: it has no ${PROJECT_CONFIG} yet`)
  return 0
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}
