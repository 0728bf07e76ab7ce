import { resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { reeveHome } from '../config/index.js'
import { type Diagnostics, diagnosticsTo, type Output, outputTo, type TextStream } from './output.js'
import { type Style, styleFor } from './style.js'

export type { Column, Diagnostics, Output, TextStream } from './output.js'
export type { Style } from './style.js'

export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent'

/**
 * Everything a verb may touch of the world. A verb is a module `verbs/<verb>.ts` that exports
 * `run(cli, …arguments, options): Promise<number>`: it prints through `out` and `err` only, throws a `ReeveError` for
 * what went wrong, and returns its exit code (0 only when everything asked for was done).
 *
 * @example
 * ```ts
 * export async function run(cli: Cli, name: string, options: { showSecrets?: boolean }): Promise<number> {
 *   const server = await find(cli, name)
 *   if (cli.json) cli.out.json(server)
 *   else cli.out.line(server.name)
 *   return 0
 * }
 * ```
 */
export interface Cli {
  /** The result, on stdout: nothing else goes there. */
  readonly out: Output
  /** Everything around the result, on stderr. */
  readonly err: Diagnostics
  /** Colours of stdout; plain text when `color` is false. */
  readonly style: Style
  /** The environment of this process, as the user gave it. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Absolute; where relative paths of the command line start. */
  readonly cwd: string
  /** Absolute: `--home`, else `REEVE_HOME`, else `~/.reeve`. May not exist yet. */
  readonly home: string
  readonly stdin: Readable & { readonly isTTY?: boolean }
  /** `--json`: `out.json` is called once with the whole result, and nothing else is printed on stdout. */
  readonly json: boolean
  /** `--quiet`: no progress and no notes; warnings and errors stay. */
  readonly quiet: boolean
  /** True only when stdout is a terminal, `NO_COLOR` is unset or empty, and `TERM` is not `dumb`. */
  readonly color: boolean
  /** `--config`, in order, absolute. Empty: the user's and the trusted project's files. */
  readonly configFiles: readonly string[]
  readonly logLevel: LogLevel
  /** `--private`, or `REEVE_NO_BROKER`: servers of this process's own, whatever broker runs. */
  readonly isPrivate: boolean
  /** The script that starts this command line, to start a broker with; absent where there is none to be started. */
  readonly entry: string | undefined
  /** Fires at Ctrl-C, SIGTERM and SIGHUP; a verb then ends what it started and rejects or returns. */
  readonly signal: AbortSignal
  /** For a verb that stands for another program: signals reach the listener and not `signal`, until the result is called. */
  readonly passSignalsOn: (listener: (signal: NodeJS.Signals) => void) => () => void
}

/** What `createCli` is made from: the process in life, streams of a test otherwise. */
export interface CliWorld {
  readonly stdout: TextStream
  readonly stderr: TextStream
  readonly stdin: Readable & { readonly isTTY?: boolean }
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly entry?: string
  readonly signal: AbortSignal
  /** Default: there are no signals. */
  readonly passSignalsOn?: Cli['passSignalsOn']
}

/** The options that every verb has. */
export interface GlobalOptions {
  readonly json?: boolean
  readonly quiet?: boolean
  readonly home?: string
  readonly config?: readonly string[]
  readonly logLevel?: LogLevel
  readonly private?: boolean
}

export function createCli(world: CliWorld, options: GlobalOptions = {}): Cli {
  const { env, cwd } = world
  const json = options.json ?? false
  const quiet = options.quiet ?? false
  const color = takesColor(world.stdout, env) && !json
  const err = diagnosticsTo(world.stderr, {
    quiet,
    transientOnly: json,
    style: styleFor(takesColor(world.stderr, env)),
  })
  return Object.freeze({
    out: outputTo(world.stdout, styleFor(color), err.clear),
    err,
    style: styleFor(color),
    env,
    cwd,
    home: resolve(cwd, options.home || reeveHome(env)),
    // Not touched before it is needed: opening it takes time, and a terminal is then read from.
    get stdin() {
      return world.stdin
    },
    json,
    quiet,
    color,
    configFiles: (options.config ?? []).map((file) => resolve(cwd, file)),
    logLevel: options.logLevel ?? 'warn',
    isPrivate: options.private ?? isOn(env.REEVE_NO_BROKER),
    entry: world.entry,
    signal: world.signal,
    passSignalsOn: world.passSignalsOn ?? (() => () => {}),
  })
}

function isOn(variable: string | undefined): boolean {
  return variable !== undefined && variable !== '' && variable !== '0'
}

function takesColor(stream: { readonly isTTY?: boolean }, env: CliWorld['env']): boolean {
  return stream.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb'
}
