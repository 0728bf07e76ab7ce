import {
  asksForSandboxState,
  type CallAuthority,
  type LauncherPaths,
  type SandboxServer,
  sandboxMeta,
  takesLauncher,
} from '../authority/index.js'
import type { ReadyClient } from '../connections/index.js'
import type { JsonObject } from '../protocol/index.js'
import { unlessAborted } from './waiting.js'

/** Paths of the launchers that work now. Asked only for servers that take one. */
export type LauncherSource = () => Promise<LauncherPaths | undefined>

/** The policy that a call carries to its server: of its authority. Frozen. */
export interface CallSandbox {
  readonly executionEnvironment: string
  readonly profile: JsonObject
  readonly cwd: string
}

/**
 * Undefined where nothing is known of what holds there, or where the server runs in an environment that is not selected: it is then
 * told of none.
 */
export function callSandbox({
  executionEnvironment,
  profile,
  cwd,
}: Pick<CallAuthority, 'executionEnvironment' | 'profile' | 'cwd'>): CallSandbox | undefined {
  if (profile === null || cwd === undefined) return undefined
  return Object.freeze({ executionEnvironment, profile, cwd })
}

/**
 * What a call sends, with its policy behind all else of `_meta` where the server asks for it. What a caller put there is
 * gone already (see `callMeta`).
 *
 * @throws CancelledError while a launcher was tried out
 */
export async function withSandbox<Payload extends { readonly _meta: JsonObject }>(
  payload: Payload,
  sandbox: CallSandbox | undefined,
  { capabilities }: Pick<ReadyClient, 'capabilities'>,
  transport: SandboxServer['transport'],
  launchers: LauncherSource,
  signal?: AbortSignal,
): Promise<Payload> {
  if (sandbox === undefined || !asksForSandboxState(capabilities)) return payload
  const server = { capabilities, transport }
  const launcher = takesLauncher(sandbox, server) ? await unlessAborted(launchers(), signal) : undefined
  const meta = sandboxMeta(sandbox, server, launcher === undefined ? {} : { launcher })
  return { ...payload, _meta: { ...payload._meta, ...meta } }
}
