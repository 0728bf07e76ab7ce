export { executionCwd, pathStyleOf } from './execution-cwd.js'
export type { Fault, LauncherFault, LauncherFinding, LauncherSource } from './launcher/finding.js'
export { Launcher, type LauncherSetting } from './launcher/launcher.js'
export { type LauncherFindings, Launchers, type LaunchersOptions } from './launcher/launchers.js'
export { codexPlaces } from './launcher/named-places.js'
export type { ProbeOptions } from './launcher/probe.js'
export { LauncherTrials } from './launcher/trials.js'
export {
  asksForSandboxState,
  type LauncherPaths,
  type SandboxAuthority,
  type SandboxHost,
  type SandboxServer,
  sandboxMeta,
  takesLauncher,
} from './meta.js'
export { isSandboxMember } from './names.js'
