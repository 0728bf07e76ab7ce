import { z } from 'zod'
import { events, json, type StandIn, startStandIn } from './loopback.js'
import { type Answer, answer, type Conversation, type Script } from './script.js'

const Request = z.object({
  model: z.string().default('standin'),
  stream: z.boolean().default(false),
  tools: z.array(z.object({ function: z.object({ name: z.string() }) })).default([]),
  messages: z.array(z.object({ role: z.string(), content: z.unknown().optional() })).default([]),
})

/** `POST /v1/chat/completions` of the OpenAI API, streamed or whole. Base URL of a client: `<url>/v1`. */
export function startChatModel(script: Script): Promise<StandIn> {
  return startStandIn((request, response) => {
    const path = request.path.split('?')[0]
    if (request.method === 'GET' && path === '/v1/models') return json(response, { object: 'list', data: [] })
    if (request.method !== 'POST' || path !== '/v1/chat/completions') return false
    const { model, stream, tools, messages } = Request.parse(request.body)
    const said = answer(script, read(tools, messages))
    const head = { id: 'chatcmpl-standin', created: 0, model }
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
    if (!stream) {
      const choice = { index: 0, message: messageOf(said), finish_reason: finishReason(said) }
      return json(response, { ...head, object: 'chat.completion', choices: [choice], usage })
    }
    const chunk = { ...head, object: 'chat.completion.chunk' }
    const list = [
      { ...chunk, choices: [{ index: 0, delta: messageOf(said), finish_reason: null }] },
      { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: finishReason(said) }], usage },
    ]
    return events(response, list, { end: '[DONE]' })
  })
}

function read(tools: z.infer<typeof Request>['tools'], messages: z.infer<typeof Request>['messages']): Conversation {
  return {
    offered: tools.map((tool) => tool.function),
    results: messages
      .filter(({ role }) => role === 'tool')
      .map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content))),
  }
}

function messageOf(said: Answer) {
  if (said.type === 'text') return { role: 'assistant', content: said.text }
  const call = { name: said.tool.name, arguments: said.arguments }
  return { role: 'assistant', content: null, tool_calls: [{ index: 0, id: said.id, type: 'function', function: call }] }
}

function finishReason(said: Answer): string {
  return said.type === 'call' ? 'tool_calls' : 'stop'
}
