import type { JsonObject, JsonValue } from '../../../protocol/index.js'
import type { CallOptions, Namespace, StepTool, ToolCall, ToolStep } from '../../../threads/index.js'
import type { WireStep } from '../wire/thread-shapes.js'
import type { RemoteCalls } from './remote-calls.js'

/** A step that was taken in the broker: what it shows stands here, what it is bound to stays there. */
export class RemoteStep implements ToolStep {
  readonly namespaces: readonly Namespace[]
  readonly tools: readonly StepTool[]
  readonly cacheHint: ToolStep['cacheHint']
  readonly #number: number
  readonly #calls: RemoteCalls

  constructor({ step, tools, namespaces, cacheHint }: WireStep, calls: RemoteCalls) {
    this.tools = Object.freeze(tools.map(frozen))
    this.namespaces = Object.freeze(
      namespaces.map(({ tools: places, ...namespace }) =>
        Object.freeze({ ...namespace, tools: Object.freeze(places.flatMap((place) => this.tools[place] ?? [])) }),
      ),
    )
    this.cacheHint = Object.freeze(cacheHint)
    this.#number = step
    this.#calls = calls
    Object.freeze(this)
  }

  call(call: ToolCall, options?: CallOptions): Promise<JsonObject> {
    return this.#calls.request<JsonObject>('step/call', { ...call, step: this.#number }, options)
  }

  callFlat(
    flat: string,
    args: JsonValue | undefined,
    { _meta, ...options }: CallOptions & { readonly _meta?: JsonObject } = {},
  ): Promise<JsonObject> {
    const call = { step: this.#number, flat, arguments: args, _meta }
    return this.#calls.request<JsonObject>('step/callFlat', call, options)
  }
}

function frozen(tool: StepTool): StepTool {
  deepFreeze(tool)
  return tool
}

function deepFreeze(value: object): void {
  Object.freeze(value)
  for (const member of Object.values(value)) if (typeof member === 'object' && member !== null) deepFreeze(member)
}
