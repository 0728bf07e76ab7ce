export type { SandboxWorld } from './child.js'
export { runSandboxed, type SandboxRequest } from './run-command.js'
