import type { ServerKey } from '../../identity/index.js'
import type { JsonObject } from '../../protocol/index.js'
import type { CallOptions, Thread } from '../../threads/index.js'
import type { ResultForm } from '../bridge/index.js'
import { outgoingMeta } from './call-meta.js'
import { namedEnvironment, withoutMark } from './environment-marks.js'
import { invalidParams, isObject, requiredText } from './params.js'
import type { PromptsRelay } from './prompts.js'
import { callOptionsOf, type RelayOptions } from './relay-options.js'
import { requireEnvironment } from './resource-owner.js'
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
  const { _meta, ...rest } = withoutMark(params)
  const meta = outgoingMeta(isObject(_meta) ? _meta : undefined)
  const raw: JsonObject = { ...rest, ref, ...(meta && { _meta: meta }) }
  const { thread, form } = relays
  await options.onBound?.(key)
  const at = { server: key.name, environment: key.environment, params: raw }
  return form.relayed(serverEra(thread, key), COMPLETE, await thread.complete(at, callOptionsOf(options, key)))
}

async function rawReference(
  { thread, prompts, resources }: Relays,
  params: JsonObject,
  options: CallOptions,
): Promise<{ readonly key: ServerKey; readonly ref: JsonObject }> {
  const { ref } = params
  const environment = namedEnvironment(params)
  if (!isObject(ref)) throw invalidParams("'ref' must be an object")
  if (ref.type === 'ref/prompt') {
    const { key, prompt } = await prompts.ownerOf(requiredText(ref, 'name'), options)
    requireEnvironment(thread, key, environment)
    return { key, ref: { ...ref, name: prompt } }
  }
  if (ref.type === 'ref/resource') {
    const { key, uri } = await resources.ownerOf(requiredText(ref, 'uri'), options, environment)
    return { key, ref: { ...ref, uri } }
  }
  throw invalidParams("'ref.type' must be ref/prompt or ref/resource")
}
