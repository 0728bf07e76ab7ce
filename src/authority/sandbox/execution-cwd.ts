import { LOCAL_ENVIRONMENT } from '../../identity/index.js'
import type { ExecPathStyle } from '../../protocol/index.js'

/**
 * The folder that a server's sandbox stands in: of its execution environment in this turn (reference: authority, 9). The host
 * falls back to the thread's own; elsewhere an environment that is not selected has none, so that no state is sent.
 *
 * @param selected what the turn selected
 */
export function executionCwd(
  executionEnvironment: string,
  selected: readonly { readonly id: string; readonly cwd?: string }[],
  threadCwd: string | undefined,
): string | undefined {
  const cwd = selected.find(({ id }) => id === executionEnvironment)?.cwd
  return cwd ?? (executionEnvironment === LOCAL_ENVIRONMENT ? threadCwd : undefined)
}

/** Whose rules an absolute path follows. It shows it itself: `C:\…`, `C:/…` and `\\host\…` are no POSIX ones. */
export function pathStyleOf(path: string): ExecPathStyle {
  return /^(?:[A-Za-z]:[\\/]|\\\\)/.test(path) ? 'windows' : 'posix'
}
