import { z } from 'zod'
import { events, json, type StandIn, startStandIn } from './loopback.js'
import { type Answer, answer, type Conversation, type Script } from './script.js'

const Request = z.object({
  tools: z.array(z.object({ functionDeclarations: z.array(z.object({ name: z.string() })).default([]) })).default([]),
  contents: z
    .array(
      z.object({
        parts: z.array(z.object({ functionResponse: z.object({ response: z.unknown() }).optional() })).default([]),
      }),
    )
    .default([]),
})

/** `POST /v1beta/models/MODEL:generateContent` and `:streamGenerateContent` of the Gemini API. Base URL of a client: `<url>`. */
export function startGeminiModel(script: Script): Promise<StandIn> {
  return startStandIn((request, response) => {
    const method = request.path.match(/\/models\/[^/:]+:(\w+)/)?.[1]
    if (request.method !== 'POST') return false
    if (method === 'countTokens') return json(response, { totalTokens: 1 })
    if (method !== 'generateContent' && method !== 'streamGenerateContent') return false
    const body = bodyOf(answer(script, read(request.body)))
    return method === 'generateContent' ? json(response, body) : events(response, [body])
  })
}

function read(body: unknown): Conversation {
  const { tools, contents } = Request.parse(body)
  const responses = contents.flatMap(({ parts }) => parts.flatMap((part) => part.functionResponse ?? []))
  return {
    offered: tools.flatMap((tool) => tool.functionDeclarations),
    results: responses.map(({ response }) => JSON.stringify(response)),
  }
}

function bodyOf(said: Answer) {
  const part =
    said.type === 'call'
      ? { functionCall: { id: said.id, name: said.tool.name, args: JSON.parse(said.arguments) } }
      : { text: said.text }
  return {
    candidates: [{ index: 0, content: { role: 'model', parts: [part] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    modelVersion: 'standin',
  }
}
