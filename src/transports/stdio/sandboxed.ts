import { type FileHandle, open } from 'node:fs/promises'
import { isAbsolute, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ServerSandbox, StdioServer } from '../../config/index.js'
import { ConfigError } from '../../errors.js'
import { presetProfile } from '../../permissions/index.js'

/** What runs a server in a sandbox. */
export interface ServerLauncher {
  /** Absolute path of a `reeve` command line. */
  readonly commandLine: string
  /** Folder of state, of which the sandbox hides the broker's key. */
  readonly home: string
}

export interface SandboxedServer {
  readonly server: StdioServer
  readonly sandbox: ServerSandbox
  /** The server's whole environment. */
  readonly env: Readonly<Record<string, string>>
  /** Absolute. */
  readonly cwd: string
  /** On the host, rather than on an executor. */
  readonly isHere: boolean
  readonly platform: NodeJS.Platform
  readonly label: string
  readonly launcher: ServerLauncher | undefined
}

/**
 * The command line that runs a server in its sandbox: `reeve sandbox` with the state of its mode. A server whose sandbox can't be
 * had is not started.
 *
 * @throws ConfigError `sandbox_unavailable`; `sandbox_env_var` for a variable that would act before the sandbox is there
 */
export async function sandboxed(
  wanted: SandboxedServer,
): Promise<{ readonly program: string; readonly args: string[] }> {
  const { server, sandbox, env, cwd, isHere, platform, label, launcher } = wanted
  if (!isHere) throw unavailable(label, 'its environment is not this machine: remove `sandbox`, or run it here')
  if (platform !== 'linux' && platform !== 'darwin') throw unavailable(label, `nothing enforces one on ${platform}`)
  if (launcher === undefined) {
    throw unavailable(label, 'this program named no `reeve` command line to start it with (`commandLine` of Reeve)')
  }
  if (!isAbsolute(launcher.commandLine)) {
    throw unavailable(label, `the path of the command line is not absolute: \`${launcher.commandLine}\``)
  }
  refuseEarlyVariables(label, env)
  const folder = resolve(cwd)
  const profile = presetProfile(sandbox.mode, { cwd: folder, network: sandbox.network ? 'enabled' : 'restricted' })
  const state = JSON.stringify({ permissionProfile: profile, sandboxCwd: pathToFileURL(folder).href })
  const [program, ...before] = await starting(launcher.commandLine, label)
  const verb = ['--home', resolve(launcher.home), 'sandbox', '--sandbox-state-json', state]
  return { program, args: [...before, ...verb, '--', server.command, ...server.args] }
}

/**
 * Our own Node.js runs a script of Node.js. The search path that its first line would ask is the server's, and may name folders
 * that an earlier run of the server wrote to.
 */
async function starting(commandLine: string, label: string): Promise<readonly [string, ...string[]]> {
  const first = await firstLine(commandLine).catch((error: unknown) => {
    throw unavailable(label, `the command line can't be read: ${error instanceof Error ? error.message : error}`)
  })
  const isScript = /^#!.*\bnode\b/.test(first) || /\.[cm]?js$/.test(commandLine)
  return isScript ? [process.execPath, commandLine] : [commandLine]
}

async function firstLine(path: string): Promise<string> {
  const file: FileHandle = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(128), 0, 128, 0)
    return buffer.toString('latin1', 0, bytesRead).split('\n', 1)[0] ?? ''
  } finally {
    await file.close()
  }
}

/** They would have the launcher, which is in no sandbox, load code or write files. */
const EARLY =
  /^(?:LD_|DYLD_|OPENSSL_|GCONV_PATH$|GLIBC_TUNABLES$|SSLKEYLOGFILE$|NODE_(?:OPTIONS|PATH|V8_COVERAGE|COMPILE_CACHE|REDIRECT_WARNINGS)$)/

function refuseEarlyVariables(label: string, env: Readonly<Record<string, string>>): void {
  const name = Object.keys(env).find((one) => EARLY.test(one))
  if (name === undefined) return
  const message = `MCP server '${label}': ${name} would act before its sandbox is there; set it in a command of the server's own`
  throw new ConfigError('sandbox_env_var', message, { place: `mcp_servers.${label}.env`, data: { name } })
}

function unavailable(label: string, reason: string): ConfigError {
  return new ConfigError('sandbox_unavailable', `MCP server '${label}' can't have its sandbox: ${reason}`, {
    place: `mcp_servers.${label}.sandbox`,
  })
}
