import { createContext, Script } from 'node:vm'
import { type HookFilter, isExactMatcher, matchesAll } from '../../config/index.js'
import type { HookCall } from './types.js'

/** Milliseconds that one comparison may take: an expression can need longer than anybody lives. */
const LIMIT_MS = 100
/** Answers kept per matcher; names come from servers. */
const KEPT = 1000
/** Characters of a name that an expression is let loose on; names that we make are shorter. */
const LONGEST_NAME = 512

/** `undecided`: the expression did not come to an end. Whoever asks takes what is stricter. */
export type Match = 'yes' | 'no' | 'undecided'

/** Whether a hook is for a call (reference: authority, 7.1). */
export class HookMatcher {
  readonly #filter: HookFilter
  readonly #matchesName: (name: string) => Match

  /** A matcher that is no regular expression matches nothing. */
  constructor(filter: HookFilter) {
    this.#filter = filter
    this.#matchesName = nameMatcher(filter.matcher)
  }

  matches({ toolName, key }: Pick<HookCall, 'toolName' | 'key'>): Match {
    const { server, environment } = this.#filter
    if (server !== undefined && key?.name !== server) return 'no'
    if (environment !== undefined && key?.environment !== environment) return 'no'
    return this.#matchesName(toolName)
  }
}

function nameMatcher(matcher: string | undefined): (name: string) => Match {
  if (matcher === undefined || matchesAll(matcher)) return () => 'yes'
  if (!isExactMatcher(matcher)) return expressionMatcher(matcher)
  const names = new Set(matcher.split('|').filter((name) => name !== ''))
  return (name) => (names.has(name) ? 'yes' : 'no')
}

function expressionMatcher(source: string): (name: string) => Match {
  const expression = compiled(source)
  if (expression === undefined) return () => 'no'
  const known = new Map<string, Match>()
  return (name) => {
    const before = known.get(name)
    if (before !== undefined) return before
    const match = name.length > LONGEST_NAME ? 'undecided' : compare(expression, name)
    if (known.size >= KEPT) known.clear()
    known.set(name, match)
    return match
  }
}

function compiled(source: string): RegExp | undefined {
  try {
    return new RegExp(source, 'u')
  } catch {
    // Said when the configuration was read (reference: authority, 7.1).
    return undefined
  }
}

/** In a context of its own, since only there a comparison can be broken off. */
function compare(expression: RegExp, name: string): Match {
  const context = createContext(Object.assign(Object.create(null), { expression, name }))
  try {
    return new Script('expression.test(name)').runInContext(context, { timeout: LIMIT_MS }) === true ? 'yes' : 'no'
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return 'undecided'
    throw error
  }
}
