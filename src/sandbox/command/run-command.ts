import { access } from 'node:fs/promises'
import { posix } from 'node:path'
import { SandboxCommandError } from '../../errors.js'
import {
  hasFullAccess,
  hasFullDiskWrite,
  hasNetwork,
  type PermissionProfile,
  presetProfile,
} from '../../permissions/index.js'
import { runGroup, type SandboxWorld } from './child.js'
import { existingFolder } from './existing-folder.js'
import { normal } from './grants.js'
import { makePlan } from './make-plan.js'
import type { Plan } from './plan.js'
import { runInBwrap } from './run-linux.js'
import { MACOS_FOLDERS, SANDBOX_EXEC, seatbeltArguments } from './seatbelt.js'
import { relaySignals } from './signals.js'
import { parseSandboxState, type SandboxState } from './state.js'

export interface SandboxRequest {
  /** The value of `--sandbox-state-json`. */
  readonly state: string
  readonly command: readonly string[]
  /** Further folders that may be read; relative ones are left out. */
  readonly readableRoots?: readonly string[]
  readonly disableNetwork?: boolean
  /** Folders that no restricted command sees, whatever its profile says: what is in them would lend it more authority. */
  readonly hidden?: readonly string[]
}

/** What programs need to start at all, for `minimal` on Linux. */
const LINUX_FOLDERS = ['/bin', '/etc', '/lib', '/lib64', '/sbin', '/usr', '/nix/store', '/run/current-system/sw']

/**
 * Runs a command under the sandbox state that a caller sent, as `codex sandbox` does (reference: authority, 10): in
 * bubblewrap on Linux, under seatbelt on macOS. Nothing is run when the state can't be enforced whole. Signals are passed on
 * to the command, and none of its processes is left behind.
 *
 * @returns the exit status of the command, 128 and the signal's number when one ended it
 * @throws SandboxCommandError when nothing was run
 */
export async function runSandboxed(
  request: SandboxRequest,
  world: SandboxWorld,
  platform: NodeJS.Platform = process.platform,
): Promise<number> {
  const { onSignal, stop } = relaySignals(world.onSignal)
  try {
    return await runUnder(request, { ...world, onSignal }, platform)
  } finally {
    stop()
  }
}

async function runUnder(request: SandboxRequest, world: SandboxWorld, platform: NodeJS.Platform): Promise<number> {
  const { command, disableNetwork = false } = request
  if (platform !== 'linux' && platform !== 'darwin') {
    throw new SandboxCommandError('sandbox_unsupported', `nothing enforces a sandbox on ${platform}: not run`)
  }
  const state = parseSandboxState(request.state, platform)
  if (command.length === 0) throw new SandboxCommandError('sandbox_failed', 'sandbox command must not be empty')
  const profile = effectiveProfile(state.profile, disableNetwork)
  const network = hasNetwork(profile)
  const inside: SandboxWorld = network
    ? world
    : { ...world, env: { ...world.env, CODEX_SANDBOX_NETWORK_DISABLED: '1' } }
  if (hasFullAccess(profile)) return runFree(command, state.cwd, inside)
  await checkHelper(state)
  if (platform === 'darwin') return runInSeatbelt(profile, state, request, inside)
  const plan = await planOf(profile, state, request, world, LINUX_FOLDERS)
  const cwd = plan?.cwd ?? (await existingFolder(normal(state.cwd)))
  return runInBwrap({ command, cwd, network, ...(plan !== undefined && { plan }) }, inside)
}

/** Of the profile that came: an outer sandbox can't be relied on here, and without network means without. */
function effectiveProfile(profile: PermissionProfile, disableNetwork: boolean): PermissionProfile {
  if (profile.type === 'external') return presetProfile('read-only', { cwd: '/' })
  if (!disableNetwork) return profile
  if (profile.type === 'disabled') {
    throw new SandboxCommandError(
      'sandbox_failed',
      '--sandbox-state-disable-network cannot be applied to a disabled permission profile',
    )
  }
  return { ...profile, network: 'restricted' }
}

/** The profile restricts nothing, so nothing is in the way. */
async function runFree(
  command: readonly string[],
  cwd: string,
  { env, stdio, onSignal }: SandboxWorld,
): Promise<number> {
  const [file = '', ...args] = command
  return runGroup({ file, args, cwd: await existingFolder(normal(cwd)), env, stdio: [...stdio] }, onSignal)
}

/** The sender's helper is not what confines the command here, but a state that names a missing one is stale. */
async function checkHelper({ helper }: SandboxState): Promise<void> {
  if (helper === undefined) return
  await access(helper).catch((error: unknown) => {
    throw new SandboxCommandError('sandbox_failed', `${helper}: No such file or directory (os error 2)`, {
      place: 'codexLinuxSandboxExe',
      cause: error,
    })
  })
}

/** Undefined: files are not restricted. */
async function planOf(
  profile: PermissionProfile,
  { cwd }: SandboxState,
  { readableRoots = [], hidden = [] }: SandboxRequest,
  { env }: SandboxWorld,
  platformFolders: readonly string[],
): Promise<Plan | undefined> {
  if (profile.type !== 'managed' || profile.file_system.type !== 'restricted' || hasFullDiskWrite(profile))
    return undefined
  return makePlan({
    policy: profile.file_system,
    network: hasNetwork(profile),
    cwd: normal(cwd),
    tmpdir: env.TMPDIR,
    readableRoots: readableRoots.filter((path) => posix.isAbsolute(path)).map(normal),
    hidden: hidden.map(normal),
    platformFolders,
  })
}

async function runInSeatbelt(
  profile: PermissionProfile,
  state: SandboxState,
  request: SandboxRequest,
  world: SandboxWorld,
): Promise<number> {
  const plan = await planOf(profile, state, request, world, MACOS_FOLDERS)
  const rules = plan ?? { base: 'write' as const, rules: [], network: hasNetwork(profile) }
  const cwd = plan?.cwd ?? (await existingFolder(normal(state.cwd)))
  const args = seatbeltArguments(rules, request.command)
  return runGroup({ file: SANDBOX_EXEC, args, cwd, env: world.env, stdio: [...world.stdio] }, world.onSignal)
}
