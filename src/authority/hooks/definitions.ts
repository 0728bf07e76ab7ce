import type { BrokenHook, CommandHook, HookEntry, HookFilter, McpToolHook, MergedHooks } from '../../config/index.js'
import { HookMatcher } from './matching.js'
import { hookHash, trustOf } from './trust.js'
import type { FunctionHook, HookListing } from './types.js'

/** Milliseconds (reference: README, constants). */
const DEFAULT_TIMEOUT = 600_000

export interface FunctionHandler {
  readonly type: 'function'
  readonly run: FunctionHook['run']
  readonly timeoutMs: number
  readonly statusMessage?: string
  readonly onFailure: 'allow' | 'block'
}

/** A hook with everything that is known of it. Frozen. */
export interface Definition extends HookListing {
  readonly handler: CommandHook | McpToolHook | BrokenHook | FunctionHandler
  readonly matcherOf: HookMatcher
  /** Whether it is run at all. */
  readonly runs: boolean
}

/** Hooks by where they come from; in this order they are shown. */
export interface HookSources {
  /** Run whatever anybody says, as those that the configuration has from the administrator. */
  readonly managed?: readonly HookEntry[]
  readonly configured?: MergedHooks
  /** Of the program that embeds the runtime. */
  readonly functions?: readonly FunctionHook[]
}

export function definitionsOf({ managed = [], configured, functions = [] }: HookSources): readonly Definition[] {
  const { managed: byRequirements = [], entries = [] } = configured ?? {}
  const made = [
    ...[...byRequirements, ...managed].map((entry) =>
      fromEntry(entry, { trust: 'managed', source: 'managed', isEnabled: true }),
    ),
    ...entries.map((entry) => {
      const state = configured?.states.get(entry.key)
      const trust = trustOf(entry, hookHash(entry), state)
      return fromEntry(entry, { trust, source: entry.origin.layer, isEnabled: state?.enabled ?? true })
    }),
    ...functions.map(fromFunction),
  ]
  return Object.freeze(made.map((one, displayOrder) => Object.freeze({ ...one, displayOrder })))
}

type Undefinite = Omit<Definition, 'displayOrder'>

function fromEntry(entry: HookEntry, standing: Pick<HookListing, 'trust' | 'source' | 'isEnabled'>): Undefinite {
  const { event, handler, key, origin } = entry
  const { trust, isEnabled } = standing
  return {
    event,
    ...filterOf(entry),
    key,
    handlerType: handler.type,
    sourcePath: origin.file,
    ...standing,
    currentHash: hookHash(entry),
    handler,
    matcherOf: new HookMatcher(entry),
    runs: trust === 'managed' || (trust === 'trusted' && isEnabled),
  }
}

function fromFunction(hook: FunctionHook): Undefinite {
  const { event, name, run, timeoutMs = DEFAULT_TIMEOUT, statusMessage, onFailure = 'allow' } = hook
  return {
    event,
    ...filterOf(hook),
    key: name,
    handlerType: 'function',
    source: 'host',
    sourcePath: null,
    trust: 'trusted',
    isEnabled: true,
    currentHash: null,
    handler: {
      type: 'function',
      run: (input, signal) => run.call(hook, input, signal),
      timeoutMs,
      ...(statusMessage !== undefined && { statusMessage }),
      onFailure,
    },
    matcherOf: new HookMatcher(hook),
    runs: true,
  }
}

function filterOf({ matcher, server, environment }: HookFilter): HookFilter {
  return {
    ...(matcher !== undefined && { matcher }),
    ...(server !== undefined && { server }),
    ...(environment !== undefined && { environment }),
  }
}
