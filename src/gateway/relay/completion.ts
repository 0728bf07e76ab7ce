import type { ServerKey } from '../../identity/index.js'
import type { JsonObject } from '../../protocol/index.js'
import type { CallOptions, Thread } from '../../threads/index.js'
import type { ResultForm } from '../bridge/index.js'
import { outgoingMeta } from './call-meta.js'
import { invalidParams, isObject, optionalObject, requiredText } from './params.js'
import type { PromptsRelay } from './prompts.js'
import { callOptionsOf, type RelayOptions } from './relay-options.js'
import type { ResourcesRelay } from './resources.js'
import { serverEra } from './server-era.js'

interface Relays {
  readonly thread: Thread
  readonly form: ResultForm
  readonly prompts: PromptsRelay
  readonly resources: ResourcesRelay
}

const COMPLETE = 'completion/complete'

/** `completion/complete`: the reference goes to its server under the server's own name, everything else as it came. */
export async function complete(relays: Relays, params: JsonObject, options: RelayOptions): Promise<JsonObject> {
  const { key, ref } = await rawReference(relays, params, options)
  const { _meta, ...rest } = params
  const meta = outgoingMeta(optionalObject(params, '_meta'))
  const raw: JsonObject = { ...rest, ref, ...(meta && { _meta: meta }) }
  const { thread, form } = relays
  await options.onBound?.(key)
  const at = { server: key.name, environment: key.environment, params: raw }
  return form.relayed(serverEra(thread, key), COMPLETE, await thread.complete(at, callOptionsOf(options)))
}

async function rawReference(
  { prompts, resources }: Relays,
  { ref }: JsonObject,
  options: CallOptions,
): Promise<{ readonly key: ServerKey; readonly ref: JsonObject }> {
  if (!isObject(ref)) throw invalidParams("'ref' must be an object")
  if (ref.type === 'ref/prompt') {
    const { key, prompt } = await prompts.ownerOf(requiredText(ref, 'name'), options)
    return { key, ref: { ...ref, name: prompt } }
  }
  if (ref.type === 'ref/resource') {
    const { key, uri } = await resources.ownerOf(requiredText(ref, 'uri'), options)
    return { key, ref: { ...ref, uri } }
  }
  throw invalidParams("'ref.type' must be ref/prompt or ref/resource")
}
