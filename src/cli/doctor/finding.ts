import type { ServerKey } from '../../identity/index.js'

/** `error`: something does not work. `warning`: it works here, and will surprise somewhere. */
export type Severity = 'error' | 'warning'

/** One problem: where it is and how to mend it. */
export interface Finding {
  readonly severity: Severity
  /** Stable, snake_case. */
  readonly code: string
  /** May have several lines: the first says what, the others are the server's last words. */
  readonly message: string
  /** `file:line member`, `server/tool field`, or a path. */
  readonly place: string
  readonly mend?: string
  readonly key?: ServerKey
  /** The environment that cannot be used. */
  readonly environment?: string
}
