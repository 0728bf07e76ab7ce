/**
 * What a client sent with one call: the policy that the call was issued under, and the program that enforces it. A frozen
 * value, to be kept for as long as anything runs that the call started.
 */
export interface CallerSandbox {
  /** The state as JSON text, as it goes to the launcher; null: none was sent. Opaque: only the launcher reads it. */
  readonly state: string | null
  /** Absolute path of a full Codex CLI on this machine; null: none was sent. */
  readonly codexExecutable: string | null
  /** Absolute path of a Reeve command line on this machine, which takes the same arguments; null: none was sent. */
  readonly reeveExecutable: string | null
}

/**
 * How the request came. A launcher names a program of this machine, so it counts only from the process that started the
 * server: whoever reaches an HTTP port could name any program, and no client sends one there (reference: authority, 9).
 */
export type RequestTransport = 'stdio' | 'http'

/**
 * The shape of a state (reference: authority, 9), for servers that show it or work in its folder:
 * `JSON.parse(sandbox.state)`. It may have members that nobody here knows; what is enforced is the text.
 */
export interface SandboxState {
  readonly permissionProfile: Readonly<Record<string, unknown>>
  readonly codexLinuxSandboxExe: string | null
  /** A `file:` URI. */
  readonly sandboxCwd: string
  readonly useLegacyLandlock: boolean
  readonly useMxc: boolean
  readonly [member: string]: unknown
}
