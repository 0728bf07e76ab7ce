import { isDeepStrictEqual } from 'node:util'
import { ReeveError } from '../../errors.js'
import type { JsonObject } from '../../protocol/index.js'
import type { Step, StepTool, Thread } from '../../threads/index.js'
import type { ResultForm } from '../bridge/index.js'
import { outgoingMeta } from './call-meta.js'
import { furtherParams } from './call-options.js'
import { type ListedItem, pageAt } from './pages.js'
import { invalidParams, optionalObject, optionalText, requiredText } from './params.js'
import { callOptionsOf, type RelayOptions } from './relay-options.js'
import { serverEra } from './server-era.js'
import type { ToolPresentation } from './tool-presentation.js'

/** What one step offers, by the names that the client knows. */
interface Offer {
  readonly step: Step
  readonly tools: ReadonlyMap<string, StepTool>
}

/**
 * `tools/list` and `tools/call` of one client. A call is bound to the definition that the client was shown: when a
 * server changed it since, the call is refused until the client has listed again.
 */
export class ToolsRelay {
  readonly #thread: Thread
  readonly #present: ToolPresentation
  readonly #form: ResultForm
  /** As last listed to the client. */
  #shown: Offer | undefined
  /** The newest step taken, shared by the calls that run at the same time. */
  #newest: Promise<Offer> | undefined
  /** The form that goes out of each definition, which is frozen, and the same object while it is unchanged. */
  readonly #listed = new WeakMap<JsonObject, ListedItem>()

  constructor(thread: Thread, present: ToolPresentation, form: ResultForm) {
    this.#thread = thread
    this.#present = present
    this.#form = form
  }

  async list(params: JsonObject): Promise<JsonObject> {
    const cursor = optionalText(params, 'cursor')
    // Further pages belong to the step of the first, while there is one.
    const offer = cursor === undefined || this.#shown === undefined ? await this.#renew() : this.#shown
    this.#shown = offer
    const { items, nextCursor } = pageAt(
      [...offer.tools.values()].map((tool) => this.#item(tool)),
      cursor,
    )
    const listed = { tools: items.map((item) => item.wire), ...(nextCursor !== undefined && { nextCursor }) }
    return this.#form.listed(listed, offer.step.cacheHint)
  }

  async call(params: JsonObject, options: RelayOptions): Promise<JsonObject> {
    const name = requiredText(params, 'name')
    const meta = outgoingMeta(optionalObject(params, '_meta'))
    const further = furtherParams(params, ['name', 'arguments'])
    const call = { ...further, ...callOptionsOf(options), ...(meta && { _meta: meta }) }
    const run = async ({ step }: Offer, { flat, key, definition }: StepTool) => {
      await options.onBound?.(key, definition)
      const result = await step.callFlat(flat, params.arguments, call)
      return this.#form.relayed(serverEra(this.#thread, key), 'tools/call', this.#present.result(key, result))
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

  /** The client was shown this very definition, or nothing under this name. */
  #isAsShown(tool: StepTool): boolean {
    const { definition } = tool
    const shown = this.#shown?.tools.get(this.#present.name(tool))?.definition
    return shown === undefined || shown === definition || isDeepStrictEqual(shown, definition)
  }

  #required(name: string, { tools }: Offer): StepTool {
    const tool = tools.get(name)
    if (tool === undefined) throw unknownTool(name, this.#shown?.tools.get(name))
    if (!this.#isAsShown(tool)) throw changedTool(name, tool)
    return tool
  }

  #renew(): Promise<Offer> {
    const taking = this.#thread
      .step()
      .then((step) => ({ step, tools: new Map(step.tools.map((tool) => [this.#present.name(tool), tool])) }))
    this.#newest = taking
    taking.catch(() => {
      if (this.#newest === taking) this.#newest = undefined
    })
    return taking
  }

  #item(tool: StepTool): ListedItem {
    const name = this.#present.name(tool)
    const known = this.#listed.get(tool.definition)
    if (known?.name === name) return known
    const wire = { ...this.#present.definition(tool.key, tool.definition), name }
    const item = { name, wire, size: JSON.stringify(wire).length }
    this.#listed.set(tool.definition, item)
    return item
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
