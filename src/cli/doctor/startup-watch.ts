import { displayKey, keyText, type ServerKey, serverKey } from '../../identity/index.js'
import type { ThreadEvent } from '../../threads/index.js'
import { isLack, type ThreadProblem } from '../thread-problems.js'
import type { Finding } from './finding.js'

/** Milliseconds after which people start to wonder. Clients of the gateway wait that long for a first list. */
export const SLOW_START_MS = 5000

/** Listens to a thread while its servers start: how long each takes, what is odd about it, and what was not found. */
export class StartupWatch {
  readonly #now: () => number
  readonly #began = new Map<string, number>()
  readonly #took = new Map<string, number>()
  readonly #findings: Finding[] = []

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  readonly onEvent = (event: ThreadEvent): void => {
    if (event.type === 'warning') this.#findings.push(fromWarning(event))
    if (event.type === 'problem') this.#findings.push(...fromProblem(event.problem))
    if (event.type !== 'status') return
    const key = keyText(event.key)
    const began = this.#began.get(key)
    if (event.status === 'starting') this.#began.set(key, this.#now())
    else if (began !== undefined && !this.#took.has(key)) this.#took.set(key, Math.round(this.#now() - began))
  }

  /** Milliseconds from `starting` to whatever came of it; undefined while it starts, or when it never did. */
  took(key: ServerKey): number | undefined {
    return this.#took.get(keyText(key))
  }

  findings(): readonly Finding[] {
    return this.#findings
  }
}

function fromWarning({ key, code, message }: Extract<ThreadEvent, { type: 'warning' }>): Finding {
  return { severity: 'warning', code, message, place: displayKey(key), key }
}

/** Environments that can't be reached are found by connecting to them, with what to do about it. */
function fromProblem(problem: ThreadProblem): Finding[] {
  if (problem.code === 'environment_unavailable') return []
  const { code, message } = problem
  const key = keyOf(problem)
  return [
    { severity: isLack(problem) ? 'error' : 'warning', code, message, place: placeOf(problem), ...(key && { key }) },
  ]
}

function keyOf(problem: ThreadProblem): ServerKey | undefined {
  if (!('environment' in problem)) return problem.key
  return problem.server === undefined ? undefined : serverKey(problem.server, problem.environment)
}

function placeOf(problem: ThreadProblem): string {
  if (!('environment' in problem)) return problem.key === undefined ? 'configuration' : displayKey(problem.key)
  const { environment, path, plugin } = problem
  return [`environment ${environment}`, path ?? plugin].filter((part) => part !== undefined).join(': ')
}

/** A start that was slow, though it worked. */
export function slowStart(key: ServerKey, place: string, ms: number | undefined): Finding[] {
  if (ms === undefined || ms < SLOW_START_MS) return []
  return [
    {
      severity: 'warning',
      code: 'slow_start',
      key,
      place,
      message: `took ${(ms / 1000).toFixed(1)} s to start`,
      mend: 'a program that npx or uvx fetches starts faster once it is installed',
    },
  ]
}
