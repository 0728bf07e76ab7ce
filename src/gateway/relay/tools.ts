import { isDeepStrictEqual } from 'node:util'
import { type ServerStatus, withoutReadOnlyHint } from '../../connections/index.js'
import { ReeveError } from '../../errors.js'
import { type ServerKey, ServerKeyMap } from '../../identity/index.js'
import type { Era, JsonObject } from '../../protocol/index.js'
import { KEEP_NOTHING, type Step, type StepTool, type Thread } from '../../threads/index.js'
import type { ResultForm } from '../bridge/index.js'
import type { ClientTasks } from '../tasks/index.js'
import { outgoingMeta } from './call-meta.js'
import { furtherParams } from './call-options.js'
import type { ClientSide } from './client-side.js'
import { HookContext } from './hook-context.js'
import { type ListedItem, pageAt } from './pages.js'
import { invalidParams, optionalObject, optionalText, requiredText } from './params.js'
import { callOptionsOf, type RelayOptions } from './relay-options.js'
import type { ToolPresentation } from './tool-presentation.js'

/** What one step offers, by the names that the client knows. */
interface Offer {
  readonly step: Step
  /** False where something was not waited for. */
  readonly isWhole: boolean
  readonly tools: ReadonlyMap<string, StepTool>
}

/**
 * Milliseconds that a list may take. An environment that does not answer is waited for longer by a thread's first step; here
 * a client waits, which is told of a changed list when there is more.
 */
const LIST_MS = 3000

/**
 * `tools/list` and `tools/call` of one client. A call is bound to the definition that the client was shown: when a
 * server changed it since, the call is refused until the client has listed again.
 */
export class ToolsRelay {
  readonly #thread: Thread
  readonly #present: ToolPresentation
  readonly #form: ResultForm
  readonly #tasks: ClientTasks
  readonly #sole: ServerKey | undefined
  /** As last listed to the client. */
  #shown: Offer | undefined
  /** The newest step taken, shared by the calls that run at the same time. */
  #newest: Promise<Offer> | undefined
  /** The form that goes out of each definition, which is frozen, and the same object while it is unchanged. */
  readonly #listed = new WeakMap<JsonObject, ListedItem & { readonly era: Era | undefined }>()

  /** `sole`: the one server whose listing this is, with whatever else its result holds. */
  constructor(thread: Thread, present: ToolPresentation, { form, tasks }: ClientSide, sole?: ServerKey) {
    this.#sole = sole
    this.#thread = thread
    this.#present = present
    this.#form = form
    this.#tasks = tasks({
      thread,
      names: present.taskNames(thread),
      finish: (key, era, result) => form.relayed(era, 'tools/call', present.result(key, result)),
    })
  }

  get tasks(): ClientTasks {
    return this.#tasks
  }

  async list(params: JsonObject): Promise<JsonObject> {
    const cursor = optionalText(params, 'cursor')
    // Further pages belong to the step of the first, while there is one.
    const offer = cursor === undefined || this.#shown === undefined ? await this.#renew(LIST_MS) : this.#shown
    this.#shown = offer
    const servers = new ServerKeyMap(this.#thread.servers().map((server) => [server.key, server]))
    const { items, nextCursor } = pageAt(
      [...offer.tools.values()].map((tool) => this.#item(tool, servers.get(tool.key))),
      cursor,
    )
    const beside = this.#sole && servers.get(this.#sole)?.toolList
    const listed = { ...beside, tools: items.map((item) => item.wire), ...(nextCursor !== undefined && { nextCursor }) }
    return this.#form.listed(listed, offer.isWhole ? offer.step.cacheHint : KEEP_NOTHING)
  }

  async call(params: JsonObject, options: RelayOptions): Promise<JsonObject> {
    const name = requiredText(params, 'name')
    const meta = outgoingMeta(optionalObject(params, '_meta'))
    const call = { ...furtherParams(params, ['name', 'arguments', 'task']), ...(meta && { _meta: meta }) }
    const run = async ({ step }: Offer, { flat, key, definition }: StepTool) => {
      const { client } = await this.#thread.client({ server: key.name, environment: key.environment }, options)
      await options.onBound?.(key, definition)
      return this.#tasks.call({
        key,
        client,
        definition,
        task: params.task,
        options,
        send: async (task, over) => {
          const context = new HookContext()
          const further = task === undefined ? call.params : { ...call.params, task }
          const how = { ...callOptionsOf(options, key), ...over, onContext: context.add }
          const sent = { ...how, ...call, ...(further && { params: further }) }
          return context.beside(await step.callFlat(flat, params.arguments, sent))
        },
      })
    }
    const offer = await (this.#newest ?? this.#renew())
    const tool = offer.tools.get(name)
    try {
      if (tool !== undefined && this.#isAsShown(tool)) return await run(offer, tool)
    } catch (error) {
      if (!isOutdated(error)) throw error
    }
    const fresh = await this.#renew()
    return run(fresh, this.#required(name, fresh))
  }

  /** The client was shown this very definition, or nothing under this name. From a cache it is shown without `readOnlyHint`. */
  #isAsShown(tool: StepTool): boolean {
    const { definition } = tool
    const shown = this.#shown?.tools.get(this.#present.name(tool))?.definition
    if (shown === undefined || shown === definition) return true
    return [definition, withoutReadOnlyHint(definition)].some((known) => isDeepStrictEqual(shown, known))
  }

  #required(name: string, { tools }: Offer): StepTool {
    const tool = tools.get(name)
    if (tool === undefined) throw unknownTool(name, this.#shown?.tools.get(name))
    if (!this.#isAsShown(tool)) throw changedTool(name, tool)
    return tool
  }

  /** `withinMs`: what takes longer is left out. */
  #renew(withinMs?: number): Promise<Offer> {
    const taking = stepWithin(this.#thread, withinMs).then(({ step, isWhole }) => {
      const tools = new Map(step.tools.map((tool) => [this.#present.name(tool), tool]))
      return { step, isWhole, tools }
    })
    this.#newest = taking
    taking.catch(() => {
      if (this.#newest === taking) this.#newest = undefined
    })
    return taking
  }

  #item(tool: StepTool, server: ServerStatus | undefined): ListedItem {
    const name = this.#present.name(tool)
    const known = this.#listed.get(tool.definition)
    if (known?.name === name && known.era === server?.era) return known
    const listed = this.#tasks.listed(server, this.#form.tool(server?.era, tool.definition))
    const wire = { ...this.#present.definition(tool.key, listed), name }
    const item = { name, wire, size: JSON.stringify(wire).length, era: server?.era }
    this.#listed.set(tool.definition, item)
    return item
  }
}

async function stepWithin(thread: Thread, ms: number | undefined): Promise<Pick<Offer, 'step' | 'isWhole'>> {
  if (ms === undefined) return { step: await thread.step(), isWhole: true }
  const late = AbortSignal.timeout(ms)
  try {
    return { step: await thread.step({ signal: late }), isWhole: true }
  } catch (error) {
    if (!late.aborted) throw error
    return { step: await thread.step({ wait: 'none' }), isWhole: false }
  }
}

function isOutdated(error: unknown): boolean {
  return error instanceof ReeveError && (error.code === 'stale_catalog' || error.code === 'unsupported_call')
}

function unknownTool(name: string, shown: StepTool | undefined) {
  if (shown === undefined) return invalidParams(`Unknown tool: ${name.slice(0, 200)}`, { code: 'unsupported_call' })
  return invalidParams(`Tool ${name} is no longer offered by its server`, {
    code: 'unsupported_call',
    server: shown.key.name,
    environment_id: shown.key.environment,
  })
}

function changedTool(name: string, { key }: StepTool) {
  return invalidParams(`Tool ${name} was changed by its server since it was listed: list the tools again`, {
    code: 'stale_catalog',
    server: key.name,
    environment_id: key.environment,
  })
}
