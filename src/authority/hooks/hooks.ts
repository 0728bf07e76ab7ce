import { isDeepStrictEqual } from 'node:util'
import type { HookEvent } from '../../config/index.js'
import { CancelledError, HookRefusedError } from '../../errors.js'
import type { JsonValue } from '../../protocol/index.js'
import { type Definition, definitionsOf, type HookSources } from './definitions.js'
import { hookInput } from './input.js'
import type { Verdict } from './output.js'
import { completedReport, startedReport } from './reports.js'
import { rewritten } from './rewriting.js'
import { type HookHost, runHook } from './run-hook.js'
import type { HookCall, HookListing, HookReport, PermissionOutcome, PostOutcome, PreOutcome } from './types.js'

export interface HooksOptions extends HookSources, HookHost {
  /** `hook/started` and `hook/completed` of every run. */
  readonly onReport?: (report: HookReport) => void
  /** Milliseconds since 1970. */
  readonly now?: () => number
}

interface Ran {
  readonly definition: Definition
  readonly verdict: Verdict
}

/**
 * The hooks of a thread (reference: authority, 7). Those of one event run at the same time; what they say is put together
 * in the order in which they are written, and never decided by which was faster: any deny wins.
 *
 * @example
 * ```ts
 * const before = await hooks.pre(call, signal)
 * if (before.is === 'refused') throw before.error
 * const result = await send(before.input)
 * const after = await hooks.post({ ...call, toolInput: before.input }, result, signal)
 * ```
 */
export class Hooks {
  readonly #definitions: readonly Definition[]
  readonly #options: HooksOptions
  readonly #now: () => number
  readonly #runs: boolean

  constructor(options: HooksOptions) {
    this.#options = options
    this.#definitions = definitionsOf(options)
    this.#runs = this.#definitions.some(({ runs }) => runs)
    this.#now = options.now ?? Date.now
  }

  /** Every hook that is known here, with what keeps it from running. */
  get list(): readonly HookListing[] {
    return this.#definitions.map(({ handler: _, matcherOf: __, runs: ___, ...listing }) => listing)
  }

  /** Whether any hook could run at all. */
  get hasAny(): boolean {
    return this.#runs
  }

  /** Whether any hook could run at an event: one that has none costs its calls nothing. */
  has(event: HookEvent): boolean {
    return this.#definitions.some((definition) => definition.runs && definition.event === event)
  }

  /**
   * Before a call: it is refused, or goes on with these arguments.
   *
   * @throws CancelledError the signal fired
   */
  async pre(call: HookCall, signal?: AbortSignal): Promise<PreOutcome> {
    const runs = await this.#run('PreToolUse', call, undefined, signal)
    const context = contextOf(runs)
    const refusal = blocked(runs, call)
    if (refusal !== undefined) return { is: 'refused', error: told(refusal, context), context }
    try {
      const input = inputAfter(runs, call)
      return input === undefined
        ? { is: 'go', input: call.toolInput, isRewritten: false, context }
        : { is: 'go', input: input.value, isRewritten: true, context }
    } catch (error) {
      if (!(error instanceof HookRefusedError)) throw error
      return { is: 'refused', error: told(error, context), context }
    }
  }

  /**
   * Where a call needs approval, before anybody is asked.
   *
   * @throws CancelledError the signal fired
   */
  async permission(call: HookCall, signal?: AbortSignal): Promise<PermissionOutcome> {
    const runs = await this.#run('PermissionRequest', call, undefined, signal)
    const [denial] = denials(runs)
    if (denial !== undefined) return { is: 'deny', error: refused('hook_denied', denial, call) }
    const failure = failureThatBlocks(runs)
    if (failure !== undefined) return { is: 'deny', error: refused('hook_failed', failure, call) }
    const allowing = runs.filter(({ verdict }) => verdict.effect.allow === true)
    if (allowing.length === 0) return { is: 'none' }
    return { is: 'allow', isManaged: allowing.some(({ definition }) => definition.trust === 'managed') }
  }

  /**
   * After a call that has a result: the CallToolResult of a tool, the text of a resource function.
   *
   * @throws CancelledError the signal fired
   */
  async post(call: HookCall, response: JsonValue, signal?: AbortSignal): Promise<PostOutcome> {
    const runs = await this.#run('PostToolUse', call, response, signal)
    const stops = runs.filter(({ verdict }) => verdict.effect.isStop === true)
    const isStop = stops.length > 0
    const reasons = denials(isStop ? stops : runs)
    const failure = failureThatBlocks(runs)
    if (failure !== undefined && reasons.length === 0) reasons.push(failure)
    return {
      ...(reasons.length > 0 && { replacement: reasons.join('\n\n') }),
      isStop,
      context: contextOf(runs),
    }
  }

  async #run(
    event: HookEvent,
    call: HookCall,
    response: JsonValue | undefined,
    signal: AbortSignal | undefined,
  ): Promise<readonly Ran[]> {
    const chosen = this.#definitions.filter((definition) => isFor(definition, event, call))
    if (chosen.length === 0) return []
    if (signal?.aborted) throw new CancelledError()
    const input = hookInput(event, call, response)
    const runs = await Promise.all(
      chosen.map(async (definition) => {
        const started = startedReport(definition, call, this.#now())
        this.#tell(started)
        const verdict = await runHook(definition, call, input, this.#options, signal ?? new AbortController().signal)
        this.#tell(completedReport(started, verdict, this.#now()))
        return { definition, verdict }
      }),
    )
    if (signal?.aborted) throw new CancelledError()
    return runs
  }

  /** A listener that throws is told so where nothing of ours is in the middle of something. */
  #tell(report: HookReport): void {
    try {
      this.#options.onReport?.(report)
    } catch (error) {
      queueMicrotask(() => {
        throw error
      })
    }
  }
}

/** A matcher that can't be decided holds where the hook restricts, and not where it could allow. */
function isFor(definition: Definition, event: HookEvent, call: HookCall): boolean {
  if (!definition.runs || definition.event !== event) return false
  const match = definition.matcherOf.matches(call)
  return match === 'yes' || (match === 'undecided' && event !== 'PermissionRequest')
}

function blocked(runs: readonly Ran[], call: HookCall): HookRefusedError | undefined {
  const [reason] = denials(runs)
  if (reason !== undefined) return refused('hook_blocked', blockedText(reason, call), call)
  const failure = failureThatBlocks(runs)
  return failure === undefined ? undefined : refused('hook_failed', blockedText(failure, call), call)
}

function blockedText(reason: string, { toolName }: HookCall): string {
  return `Tool call blocked by PreToolUse hook: ${reason}. Tool: ${toolName}`
}

/** Undefined: nobody wants other arguments. */
function inputAfter(runs: readonly Ran[], call: HookCall): { readonly value: JsonValue } | undefined {
  const wanted = runs.flatMap(({ verdict }) => verdict.effect.updatedInput ?? [])
  const [first, ...others] = wanted.map(({ value }) => rewritten(call, value))
  if (first === undefined) return undefined
  if (others.some((other) => !isDeepStrictEqual(other, first))) {
    const text = 'several PreToolUse hooks rewrite the arguments in different ways'
    throw refused('hooks_disagree', blockedText(text, call), call)
  }
  return { value: first }
}

/** A call that is refused has no result that the context could stand beside. */
function told(error: HookRefusedError, context: readonly string[]): HookRefusedError {
  if (context.length === 0) return error
  const { code, message, key, place, data } = error
  return new HookRefusedError(code, message, {
    ...(key && { key }),
    ...(place !== undefined && { place }),
    data: { ...data, context },
  })
}

function denials(runs: readonly Ran[]): string[] {
  return runs.flatMap(({ verdict }) => verdict.effect.deny ?? [])
}

function failureThatBlocks(runs: readonly Ran[]): string | undefined {
  const broken = runs.find(
    ({ definition, verdict }) => verdict.status === 'failed' && definition.handler.onFailure === 'block',
  )
  if (broken === undefined) return undefined
  const why = broken.verdict.entries.find(({ kind }) => kind === 'error')?.text ?? 'it failed'
  return `a hook that has to answer did not: ${why}`
}

function contextOf(runs: readonly Ran[]): readonly string[] {
  return runs.flatMap(({ verdict }) => verdict.effect.context ?? [])
}

function refused(
  code: 'hook_blocked' | 'hook_denied' | 'hook_failed' | 'hooks_disagree',
  message: string,
  { key, toolName }: HookCall,
): HookRefusedError {
  return new HookRefusedError(code, message, { ...(key && { key }), place: toolName })
}
