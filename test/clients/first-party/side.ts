import type { Backend } from '../../standins/backend.js'
import { MODE_LINES } from '../../standins/backend-runtime.js'
import type { ComparedBackend } from './traffic.js'

export const MODES = ['off', 'dual_header', 'assertion_only'] as const
export type Mode = (typeof MODES)[number]

export interface World {
  readonly mode: Mode
  readonly backend: Backend
  readonly model: ComparedBackend
}

/** One of the two clients, signed in and with a thread. */
export interface Side extends AsyncDisposable {
  /** A call by name: what it answered, or why not. */
  call(): Promise<string>
  refresh(): Promise<void>
  /** A model calls the tool, and one that takes a file. */
  turn(): Promise<void>
  logout(): Promise<void>
  /** In good order: sessions are ended, what is queued is sent. */
  end(): Promise<void>
}

export const SERVER_PATH = '/backend-api/test/mcp'
export const SERVER = `[mcp_servers.hub]\nurl = "https://chatgpt.com${SERVER_PATH}"\nauth = "chatgpt"\n`
export const HUB = { server: 'hub' } as const
export const FILE = 'a.txt'

/** The feature's lines for a `config.toml` that has no table of features of its own. */
export function modeLines(mode: Mode, features: readonly string[] = []): string {
  const lines = MODE_LINES[mode]
  if (features.length === 0) return lines
  return lines.startsWith('[features]\n')
    ? `${lines}${features.join('\n')}\n`
    : `[features]\n${features.join('\n')}\n${lines}`
}
