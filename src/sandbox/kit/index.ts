/**
 * For authors of MCP servers that run commands: obey the sandbox policy of the caller. Published as `reeve/sandbox`; needs
 * no other package.
 *
 * @example
 * ```ts
 * import { spawn } from 'node:child_process'
 * import { launch, readSandboxRequest, SANDBOX_CAPABILITIES } from 'reeve/sandbox'
 *
 * // initialize: answer with `capabilities: { tools: {}, ...SANDBOX_CAPABILITIES }`; then for each tools/call:
 * export function run(line: string, command: readonly string[]) {
 *   const { file, args } = launch(readSandboxRequest(line, 'stdio'), command)
 *   return spawn(file, args, { env: { PATH: process.env.PATH } })
 * }
 * ```
 */
export { type SandboxRefusal, SandboxRefusedError } from '../../errors.js'
export type * from './caller-sandbox.js'
export { type Launch, type LaunchOptions, launch } from './launch.js'
export { SANDBOX_CAPABILITIES, SANDBOX_LAUNCHER, SANDBOX_STATE, SANDBOX_STATE_ALIAS } from './names.js'
export { type OperatorOptOut, operatorOptOut } from './opt-out.js'
export { readSandboxMeta, readSandboxRequest } from './read-sandbox.js'
export { isSameAuthority, requireSameAuthority } from './same-authority.js'
