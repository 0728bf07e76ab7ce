import { readableName, type ServerKey } from '../../identity/index.js'
import type { JsonObject } from '../../protocol/index.js'
import type { CallOptions, Thread } from '../../threads/index.js'
import type { ResultForm } from '../bridge/index.js'
import { outgoingMeta } from './call-meta.js'
import { furtherParams } from './call-options.js'
import type { Collected, OwnedItem } from './collect.js'
import { qualifyPromptResult } from './content.js'
import { markItem } from './environment-marks.js'
import { MergedListing } from './listing.js'
import { invalidParams, optionalObject, requiredText } from './params.js'
import { callOptionsOf, type RelayOptions } from './relay-options.js'
import { serverEra } from './server-era.js'

export interface OwnedPrompt {
  readonly key: ServerKey
  /** The raw name on the wire. */
  readonly prompt: string
}

/** `prompts/*` of one client. A prompt's name is made like a tool's, and found by lookup, never taken apart. */
export class PromptsRelay {
  readonly #thread: Thread
  readonly #form: ResultForm
  readonly #prompts: MergedListing
  readonly #owners = new WeakMap<Collected, ReadonlyMap<string, OwnedPrompt>>()

  constructor(thread: Thread, form: ResultForm) {
    this.#thread = thread
    this.#form = form
    this.#prompts = new MergedListing(thread.prompts, { member: 'prompts', present }, form)
  }

  list(params: JsonObject, options: CallOptions): Promise<JsonObject> {
    return this.#prompts.list(params, options)
  }

  async get(params: JsonObject, options: RelayOptions): Promise<JsonObject> {
    const { key, prompt } = await this.ownerOf(requiredText(params, 'name'), options)
    const given = optionalObject(params, 'arguments')
    const meta = outgoingMeta(optionalObject(params, '_meta'))
    await options.onBound?.(key)
    const result = await this.#thread.prompts.get(
      {
        server: key.name,
        environment: key.environment,
        name: prompt,
        ...(given && { arguments: given }),
        ...(meta && { _meta: meta }),
      },
      { ...furtherParams(params, ['name', 'arguments']), ...callOptionsOf(options, key) },
    )
    return this.#form.relayed(serverEra(this.#thread, key), 'prompts/get', qualifyPromptResult(key, result))
  }

  /** The server and its own name of a prompt, in what was listed last, else in what is there now. */
  async ownerOf(name: string, options: CallOptions): Promise<OwnedPrompt> {
    const owned =
      this.#ownersIn(await this.#prompts.known(options)).get(name) ??
      this.#ownersIn(await this.#prompts.fresh(options)).get(name)
    if (owned === undefined) throw invalidParams(`Unknown prompt: ${name.slice(0, 200)}`, { code: 'unknown_prompt' })
    return owned
  }

  #ownersIn(collected: Collected): ReadonlyMap<string, OwnedPrompt> {
    const known = this.#owners.get(collected)
    if (known !== undefined) return known
    const owners = new Map<string, OwnedPrompt>()
    for (const owned of collected.items) {
      if (typeof owned.item.name !== 'string') continue
      owners.set(readableName(owned.key, owned.item.name), { key: owned.key, prompt: owned.item.name })
    }
    this.#owners.set(collected, owners)
    return owners
  }
}

function present({ key, item }: OwnedItem): { name: string; wire: JsonObject } {
  const name = readableName(key, String(item.name))
  return { name, wire: { ...markItem(key, item), name } }
}
