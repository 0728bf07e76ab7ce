import { z } from 'zod'
import { events, json, type StandIn, startStandIn } from './loopback.js'
import { type Answer, answer, type Conversation, type Script } from './script.js'

const Request = z.object({
  tools: z
    .array(
      z.object({
        type: z.string(),
        name: z.string().optional(),
        tools: z.array(z.object({ name: z.string().optional() })).optional(),
      }),
    )
    .default([]),
  input: z.array(z.object({ type: z.string().optional(), output: z.unknown().optional() })).default([]),
})

/** `POST /v1/responses` of the OpenAI API, streamed. Base URL of a client: `<url>/v1`. */
export function startResponsesModel(script: Script): Promise<StandIn> {
  return startStandIn((request, response) => {
    const path = request.path.split('?')[0]
    if (request.method === 'GET' && path?.endsWith('/models')) {
      return json(response, { object: 'list', data: [], models: [] })
    }
    if (request.method !== 'POST' || path !== '/v1/responses') return false
    return events(response, stream(answer(script, read(request.body))), { named: true })
  })
}

function read(body: unknown): Conversation {
  const { tools, input } = Request.parse(body)
  return {
    offered: tools.flatMap((tool) => {
      if (tool.type === 'function' && tool.name !== undefined) return [{ name: tool.name }]
      const { name: namespace, tools: members } = tool
      if (tool.type !== 'namespace' || namespace === undefined) return []
      return (members ?? []).flatMap(({ name }) => (name === undefined ? [] : [{ namespace, name }]))
    }),
    results: input.filter((item) => item.type === 'function_call_output').map((item) => textOf(item.output)),
  }
}

function textOf(output: unknown): string {
  if (typeof output === 'string') return output
  const parts = z.array(z.object({ text: z.string().optional() })).safeParse(output)
  return parts.success ? parts.data.map((part) => part.text ?? '').join('') : JSON.stringify(output)
}

function stream(said: Answer): Record<string, unknown>[] {
  const id = 'resp_standin'
  const item =
    said.type === 'call'
      ? {
          type: 'function_call',
          id: `fc_${said.id}`,
          call_id: said.id,
          name: said.tool.name,
          ...(said.tool.namespace !== undefined && { namespace: said.tool.namespace }),
          arguments: said.arguments,
        }
      : {
          type: 'message',
          id: 'msg_standin',
          role: 'assistant',
          content: [{ type: 'output_text', text: said.text, annotations: [] }],
        }
  return [
    { type: 'response.created', response: { id } },
    { type: 'response.output_item.added', output_index: 0, item },
    { type: 'response.output_item.done', output_index: 0, item },
    {
      type: 'response.completed',
      response: {
        id,
        output: [item],
        usage: {
          input_tokens: 1,
          input_tokens_details: { cached_tokens: 0 },
          output_tokens: 1,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: 2,
        },
      },
    },
  ]
}
