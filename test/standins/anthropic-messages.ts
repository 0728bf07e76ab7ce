import { z } from 'zod'
import { events, json, type StandIn, startStandIn } from './loopback.js'
import { type Answer, answer, type Conversation, type Script } from './script.js'

const Block = z.object({ type: z.string(), content: z.unknown().optional() })
const Request = z.object({
  model: z.string().default('standin'),
  stream: z.boolean().default(false),
  tools: z.array(z.object({ name: z.string() })).default([]),
  messages: z.array(z.object({ content: z.union([z.string(), z.array(Block)]) })).default([]),
})

/** `POST /v1/messages` of the Anthropic API, streamed or whole. Base URL of a client: `<url>`. */
export function startMessagesModel(script: Script): Promise<StandIn> {
  return startStandIn((request, response) => {
    const path = request.path.split('?')[0]
    if (request.method !== 'POST') return false
    if (path === '/v1/messages/count_tokens') return json(response, { input_tokens: 1 })
    if (path !== '/v1/messages') return false
    const { model, stream, tools, messages } = Request.parse(request.body)
    const said = answer(script, read(tools, messages))
    return stream
      ? events(response, streamed(said, model), { named: true })
      : json(response, { ...message(model), content: [blockOf(said)], stop_reason: stopReason(said) })
  })
}

function read(tools: z.infer<typeof Request>['tools'], messages: z.infer<typeof Request>['messages']): Conversation {
  const blocks = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content))
  return {
    offered: tools,
    results: blocks.filter((block) => block.type === 'tool_result').map((block) => textOf(block.content)),
  }
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  const parts = z.array(z.object({ text: z.string().optional() })).safeParse(content)
  return parts.success ? parts.data.map((part) => part.text ?? '').join('') : JSON.stringify(content)
}

function streamed(said: Answer, model: string): Record<string, unknown>[] {
  const delta =
    said.type === 'call'
      ? { type: 'input_json_delta', partial_json: said.arguments }
      : { type: 'text_delta', text: said.text }
  const opened = said.type === 'call' ? { ...blockOf(said), input: {} } : { type: 'text', text: '' }
  return [
    { type: 'message_start', message: { ...message(model), content: [], stop_reason: null } },
    { type: 'content_block_start', index: 0, content_block: opened },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: stopReason(said), stop_sequence: null },
      usage: { output_tokens: 1 },
    },
    { type: 'message_stop' },
  ]
}

function message(model: string) {
  return {
    id: 'msg_standin',
    type: 'message',
    role: 'assistant',
    model,
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  }
}

function blockOf(said: Answer) {
  return said.type === 'call'
    ? { type: 'tool_use', id: `toolu_${said.id}`, name: said.tool.name, input: JSON.parse(said.arguments) }
    : { type: 'text', text: said.text }
}

function stopReason(said: Answer): string {
  return said.type === 'call' ? 'tool_use' : 'end_turn'
}
