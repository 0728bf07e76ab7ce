import type { ServerKey } from '../../identity/index.js'

/** `error`: something does not work. `warning`: it works here, and will surprise somewhere. */
export type Severity = 'error' | 'warning'

/** One problem: where it is and how to mend it. */
export interface Finding {
  readonly severity: Severity
  /** Stable, snake_case. */
  readonly code: string
  readonly message: string
  /** `file:line member`, `server/tool field`, or a path. */
  readonly place: string
  readonly mend?: string
  /** What the server wrote to stderr before it went, oldest first. */
  readonly stderr?: readonly string[]
  readonly key?: ServerKey
}
