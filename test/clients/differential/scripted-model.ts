import { z } from 'zod'
import { events, json, type StandIn, startStandIn } from '../../standins/loopback.js'

/** What the model says: a call of exactly this name, whether it was offered or not. */
export interface ModelCall {
  readonly namespace?: string
  readonly name: string
  /** JSON text, or what the model takes for it. */
  readonly arguments: string
}

/** One request as the model got it. */
export type Offer = z.infer<typeof Request>

/** A model that makes the calls it is told, one a request, and then ends the turn. */
export interface ScriptedModel extends StandIn {
  /** For the next turn. */
  say(calls: readonly ModelCall[]): void
  /** What it was asked since `say`. */
  readonly asked: readonly Offer[]
  /** What it was given for its call number `index` of this turn. */
  output(index: number): Output
}

export interface Output {
  readonly callId: string
  /** Text, or parts of text. Absent when the turn ended before. */
  readonly output: unknown
}

const OUTPUT = 'function_call_output'

const Tool = z.object({
  type: z.string(),
  name: z.string().optional(),
  description: z.string().optional(),
  parameters: z.json().optional(),
})
const Request = z.object({
  tools: z.array(Tool.extend({ tools: z.array(Tool).optional() })).default([]),
  input: z
    .array(z.object({ type: z.string().optional(), call_id: z.string().optional(), output: z.unknown().optional() }))
    .default([]),
})

export async function startScriptedModel(): Promise<ScriptedModel> {
  let turn = 0
  let calls: readonly ModelCall[] = []
  let asked: Offer[] = []
  const model = await startStandIn((request, response) => {
    const path = request.path.split('?')[0]
    if (request.method === 'GET' && path?.endsWith('/models'))
      return json(response, { object: 'list', data: [], models: [] })
    if (request.method !== 'POST' || path !== '/v1/responses') return false
    const call = calls[asked.length]
    asked.push(Request.parse(request.body))
    return events(response, stream(itemOf(call, `${turn}_${asked.length - 1}`)), { named: true })
  })
  return {
    url: model.url,
    requests: model.requests,
    get asked() {
      return asked
    },
    say(next) {
      turn += 1
      calls = next
      asked = []
    },
    output(index) {
      const callId = `call_${turn}_${index}`
      const told = asked.at(-1)?.input.find(({ type, call_id }) => type === OUTPUT && call_id === callId)
      return { callId, output: told?.output }
    },
    [Symbol.asyncDispose]: model[Symbol.asyncDispose],
  }
}

function itemOf(call: ModelCall | undefined, id: string): Record<string, unknown> {
  if (call === undefined) {
    const content = [{ type: 'output_text', text: 'Done.', annotations: [] }]
    return { type: 'message', id: `msg_${id}`, role: 'assistant', content }
  }
  return { type: 'function_call', id: `fc_${id}`, call_id: `call_${id}`, ...call }
}

function stream(item: Record<string, unknown>): Record<string, unknown>[] {
  const id = 'resp_differential'
  const usage = {
    input_tokens: 1,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 1,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 2,
  }
  return [
    { type: 'response.created', response: { id } },
    { type: 'response.output_item.added', output_index: 0, item },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { id, output: [item], usage } },
  ]
}
