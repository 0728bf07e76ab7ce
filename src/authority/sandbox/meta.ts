import { LOCAL_ENVIRONMENT } from '../../identity/index.js'
import { fileUriOf, type JsonObject } from '../../protocol/index.js'
import type { CallAuthority } from '../types.js'
import { pathStyleOf } from './execution-cwd.js'
import { SANDBOX_MEMBERS } from './names.js'

/** What is known of the server that is called. */
export interface SandboxServer {
  /** Of its answer to the handshake. */
  readonly capabilities: JsonObject
  readonly transport: 'stdio' | 'streamable_http' | 'sse'
}

/** What this machine has to enforce a policy with. */
export interface SandboxHost {
  /** Paths that passed the probe; absent: there is none. */
  readonly launcher?: LauncherPaths
  /** The helper that the host's own Codex uses on Linux; absent: the launcher uses its own. */
  readonly linuxSandboxExecutable?: string
}

/** `codex/sandbox-launcher`. At least one. */
export interface LauncherPaths {
  readonly codexExecutable?: string
  readonly reeveExecutable?: string
}

/** What of a call's authority its sandbox is made of. */
export type SandboxAuthority = Pick<CallAuthority, 'executionEnvironment' | 'profile' | 'cwd'>

/**
 * The members that tell a server the policy of one call, to be put over whatever the caller sent (reference: authority, 9).
 * None when the server did not ask for them, when its environment is not selected, or when no URI can carry its folder.
 * The profile goes whole, members that nobody here knows included.
 *
 * A host's path means nothing elsewhere: for remote execution there is no helper (known-quirks, 35), and a launcher only
 * goes to servers that this machine starts itself and that can start it in turn: local, on stdio.
 */
export function sandboxMeta(call: SandboxAuthority, server: SandboxServer, host: SandboxHost): JsonObject {
  if (!asksForSandboxState(server.capabilities)) return {}
  const state = sandboxState(call, host)
  if (state === undefined) return {}
  const launcher = takesLauncher(call, server) ? launcherMember(host.launcher) : undefined
  return {
    [SANDBOX_MEMBERS.state]: state,
    [SANDBOX_MEMBERS.alias]: state,
    ...(launcher && { [SANDBOX_MEMBERS.launcher]: launcher }),
  }
}

/** Whether a server wants the state: either key, whatever its value. */
export function asksForSandboxState(capabilities: JsonObject): boolean {
  const { experimental } = capabilities
  if (typeof experimental !== 'object' || experimental === null) return false
  return [SANDBOX_MEMBERS.state, SANDBOX_MEMBERS.alias].some((key) => Object.hasOwn(experimental, key))
}

/** Whether a launcher would go to the server, so that it is worth looking for. */
export function takesLauncher(call: Pick<SandboxAuthority, 'executionEnvironment'>, server: SandboxServer): boolean {
  return server.transport === 'stdio' && isLocal(call)
}

function sandboxState(call: SandboxAuthority, { linuxSandboxExecutable }: SandboxHost): JsonObject | undefined {
  const sandboxCwd = call.cwd === undefined ? undefined : fileUriOf(call.cwd, pathStyleOf(call.cwd))
  if (sandboxCwd === undefined) return undefined
  return {
    permissionProfile: call.profile,
    codexLinuxSandboxExe: isLocal(call) ? (linuxSandboxExecutable ?? null) : null,
    sandboxCwd,
    useLegacyLandlock: false,
    useMxc: false,
  }
}

function launcherMember({ codexExecutable, reeveExecutable }: LauncherPaths = {}): JsonObject | undefined {
  if (codexExecutable === undefined && reeveExecutable === undefined) return undefined
  return {
    ...(codexExecutable !== undefined && { codexExecutable }),
    ...(reeveExecutable !== undefined && { reeveExecutable }),
  }
}

function isLocal({ executionEnvironment }: Pick<SandboxAuthority, 'executionEnvironment'>): boolean {
  return executionEnvironment === LOCAL_ENVIRONMENT
}
