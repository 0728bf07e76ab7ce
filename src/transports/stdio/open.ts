import { isAbsolute, resolve } from 'node:path'
import type { StdioServer } from '../../config/index.js'
import type { Environment, SpawnRequest } from '../../environments/index.js'
import { ConfigError } from '../../errors.js'
import { childEnvironment, executorVariables } from './environment.js'
import { type ServerLauncher, sandboxed } from './sandboxed.js'
import { secretValues } from './secrets.js'
import { StdioTransport } from './transport.js'

export interface OpenStdioOptions {
  readonly environment: Environment
  readonly server: StdioServer
  /** Our own environment, of which the child gets the allowlist and what it asks for. */
  readonly parentEnv: Readonly<Record<string, string | undefined>>
  /** The host's operating system. */
  readonly platform: NodeJS.Platform
  /** Absolute directory of a local server that configures none, and the base of a relative one. */
  readonly defaultCwd: string
  /** The server's name for people: the display form of its key. */
  readonly label: string
  /** What a server with a sandbox is started with. Without it, such a server isn't started. */
  readonly launcher?: ServerLauncher
  readonly onstderr?: (line: string) => void
  /** Ends the start; a started server is ended by `close` of the transport. */
  readonly signal?: AbortSignal
}

/**
 * Starts a stdio server and returns its transport, which is not started yet: nothing was sent, and what the server
 * says meanwhile is kept.
 *
 * Raises `ConfigError` (its environment cannot be built, a remote one names no working directory, or its sandbox can't be had),
 * `InvalidArgumentsError` (the executor cannot be told), `ProcessFailedError` (it cannot be started), `EnvironmentError`,
 * `CancelledError`, `ClosedError`.
 */
export async function openStdio(options: OpenStdioOptions): Promise<StdioTransport> {
  const { environment, server, label, onstderr, signal } = options
  const launch = environment.kind === 'local' ? launchHere(options) : launchThere(options)
  const process = await environment.spawn({
    ...(await programOf(options, launch)),
    ...launch,
    label,
    ...(signal && { signal }),
  })
  const secrets = secretValues(given(server, launch.env))
  return new StdioTransport(process, { label, secrets, ...(onstderr && { onstderr }) })
}

/** The server's own command, or what runs it in its sandbox. */
async function programOf(
  options: OpenStdioOptions,
  { env, cwd = options.defaultCwd }: Launch,
): Promise<Pick<SpawnRequest, 'program' | 'args'>> {
  const { environment, server, platform, label, launcher } = options
  if (server.sandbox === undefined || server.sandbox.mode === 'danger-full-access') {
    return { program: server.command, args: server.args }
  }
  return sandboxed({
    server,
    sandbox: server.sandbox,
    env,
    cwd,
    isHere: environment.kind === 'local',
    platform,
    label,
    launcher,
  })
}

type Launch = Pick<SpawnRequest, 'env' | 'cwd' | 'executorVariables'>

function launchHere({ server, parentEnv, platform, defaultCwd }: OpenStdioOptions): Launch {
  return {
    env: childEnvironment(platform, parentEnv, server.envVars, server.env),
    cwd: workingDirectory(server.cwd, defaultCwd),
  }
}

/** Program and folder are names of the executor's system; only the environment there can judge them. */
function launchThere({ server, parentEnv, platform, label }: OpenStdioOptions): Launch {
  if (server.cwd === undefined) {
    throw new ConfigError('explicit_cwd', 'executor stdio server requires an explicit cwd', { place: `${label} cwd` })
  }
  const { env, there } = executorVariables(platform, parentEnv, server.envVars, server.env)
  return { env, cwd: server.cwd, ...(there.length > 0 && { executorVariables: there }) }
}

/** What the configuration gave to this server, without what every child gets. */
function given(server: StdioServer, env: Readonly<Record<string, string>>): Record<string, string> {
  const asked = server.envVars.map((entry) => (typeof entry === 'string' ? entry : entry.name))
  const names = new Set([...asked, ...Object.keys(server.env)].map((name) => name.toUpperCase()))
  return Object.fromEntries(Object.entries(env).filter(([name]) => names.has(name.toUpperCase())))
}

function workingDirectory(configured: string | undefined, fallback: string): string {
  if (configured === undefined) return fallback
  return isAbsolute(configured) ? configured : resolve(fallback, configured)
}
