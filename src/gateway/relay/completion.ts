import type { JsonObject } from '../../protocol/index.js'
import type { CallOptions, Thread } from '../../threads/index.js'
import { invalidParams, isObject, requiredText } from './params.js'
import type { PromptsRelay } from './prompts.js'
import type { ResourcesRelay } from './resources.js'

/** `completion/complete`: the reference goes to its server under the server's own name, everything else as it came. */
export async function complete(
  thread: Thread,
  relays: { readonly prompts: PromptsRelay; readonly resources: ResourcesRelay },
  params: JsonObject,
  options: CallOptions,
): Promise<JsonObject> {
  const { ref } = params
  if (!isObject(ref)) throw invalidParams("'ref' must be an object")
  if (ref.type === 'ref/prompt') {
    const { key, prompt } = await relays.prompts.ownerOf(requiredText(ref, 'name'), options)
    const raw = { ...params, ref: { ...ref, name: prompt } }
    return thread.complete({ server: key.name, environment: key.environment, params: raw }, options)
  }
  if (ref.type === 'ref/resource') {
    const { key, uri } = await relays.resources.ownerOf(requiredText(ref, 'uri'), options)
    const raw = { ...params, ref: { ...ref, uri } }
    return thread.complete({ server: key.name, environment: key.environment, params: raw }, options)
  }
  throw invalidParams("'ref.type' must be ref/prompt or ref/resource")
}
