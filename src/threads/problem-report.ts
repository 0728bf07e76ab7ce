import type { CatalogProblem } from '../catalog/index.js'
import type { DiscoveryProblem } from '../environments/index.js'

/** A policy that was asked for is wider than the requirements let it be. */
export interface PolicyProblem {
  readonly code: 'policy_not_allowed'
  /** It concerns no server of its own. */
  readonly key?: undefined
  readonly message: string
}

export type ThreadProblem = DiscoveryProblem | CatalogProblem | PolicyProblem

/** Tells each problem once, and again only after it was gone. */
export class ProblemReport {
  readonly #told: (problem: ThreadProblem) => void
  #known: ReadonlySet<string> = new Set()

  constructor(told: (problem: ThreadProblem) => void) {
    this.#told = told
  }

  /** All that is wrong now. */
  now(problems: readonly ThreadProblem[]): void {
    const before = this.#known
    const current = new Map(problems.map((problem) => [causeOf(problem), problem]))
    // Before anyone is told: a listener may make the thread look again.
    this.#known = new Set(current.keys())
    for (const [cause, problem] of current) if (!before.has(cause)) this.#told(problem)
  }
}

function causeOf(problem: ThreadProblem): string {
  return JSON.stringify(problem)
}
