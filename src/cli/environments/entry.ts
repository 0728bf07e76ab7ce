import { resolve } from 'node:path'
import type { RawTable } from '../../config/index.js'
import { type Members, secondsOf, variables, withoutAbsent } from '../configuring/entry-members.js'
import { UsageError } from '../usage.js'
import { sshCommand } from './ssh-command.js'

/** What `env add` takes. Times are seconds. */
export interface EnvironmentAddOptions {
  readonly url?: string
  readonly tokenEnv?: string
  readonly ssh?: string
  readonly command?: boolean
  readonly env?: readonly string[]
  readonly cwd?: string
  readonly workspace?: string
  readonly connectTimeout?: string
  readonly initializeTimeout?: string
}

/**
 * The `[[environments]]` entry that a command line asks for, without its id; with no way to reach it, the members to change.
 *
 * @param words what follows `--`
 * @param cwd where a relative `--cwd` starts
 * @throws UsageError for what doesn't go together
 */
export function environmentEntry(words: readonly string[], options: EnvironmentAddOptions, cwd: string): RawTable {
  return withoutAbsent({
    ...wayOf(words, options, cwd),
    connect_timeout_sec: secondsOf('--connect-timeout', options.connectTimeout),
    initialize_timeout_sec: secondsOf('--initialize-timeout', options.initializeTimeout),
    workspace: options.workspace,
  })
}

function wayOf(words: readonly string[], options: EnvironmentAddOptions, cwd: string): Members {
  const { url, ssh } = options
  const ways = [url !== undefined, ssh !== undefined, options.command === true].filter(Boolean).length
  if (ways > 1) throw new UsageError('an environment has a --url, an --ssh or a --command, not several')
  if (url !== undefined) {
    if (words.length > 0) throw new UsageError('--url takes no command')
    refuse('--url', { '--env': options.env, '--cwd': options.cwd })
    return { url, auth_bearer_token_env_var: options.tokenEnv }
  }
  if (ways === 0 && words.length === 0) return changes(options)
  const way = ssh === undefined ? '--command' : '--ssh'
  refuse(way, { '--token-env': options.tokenEnv, '--connect-timeout': options.connectTimeout })
  const [program, ...args] = ssh === undefined ? words : sshCommand(ssh, words)
  if (program === undefined) throw new UsageError('--command needs the command after --')
  return {
    program,
    args: args.length > 0 ? args : undefined,
    env: variables(options.env),
    cwd: options.cwd === undefined ? undefined : resolve(cwd, options.cwd),
  }
}

/** Without a way: what else is to be changed of an entry that is there. */
function changes({ tokenEnv, env, cwd, workspace, connectTimeout, initializeTimeout }: EnvironmentAddOptions): Members {
  if (env !== undefined || cwd !== undefined) throw new UsageError('--env and --cwd go with the command: give it again')
  if ([tokenEnv, workspace, connectTimeout, initializeTimeout].every((option) => option === undefined))
    throw new UsageError('say how it is reached: --url URL, --ssh [USER@]HOST, or --command -- COMMAND')
  return { auth_bearer_token_env_var: tokenEnv }
}

function refuse(way: string, foreign: Readonly<Record<string, unknown>>): void {
  for (const [flag, value] of Object.entries(foreign))
    if (value !== undefined) throw new UsageError(`${flag} does not go with ${way}`)
}
