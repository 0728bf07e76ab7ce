import { z } from 'zod'
import type { Notification } from './codex-app.js'
import type { Json, ModelQuestion } from './questions.js'
import type { Offer, Output } from './scripted-model.js'
import {
  CallResult,
  callShape,
  errorShape,
  functionOutputShape,
  functionShape,
  keyShape,
  namespaceShape,
  startupsShape,
} from './shapes.js'

/** What was seen of one turn; for a call also what the model was given for it. */
export interface CodexTurn {
  readonly offer: Offer | undefined
  readonly told: readonly Notification[]
  readonly output?: Output
}

const Item = z.object({
  type: z.literal('mcpToolCall'),
  id: z.string(),
  server: z.string(),
  environmentId: z.string().nullable(),
  tool: z.string(),
  status: z.string(),
  result: CallResult.nullable(),
  error: z.object({ message: z.string() }).nullable(),
})
const Startup = z.object({
  name: z.string(),
  environmentId: z.string().nullable(),
  status: z.string(),
  error: z.string().nullable(),
})
const Texts = z.array(z.object({ text: z.string() }))

/** The answer to a question of the model. */
export function answerOf(question: ModelQuestion, turn: CodexTurn): Json {
  switch (question.ask) {
    case 'namespaces':
      return namespacesOf(turn.offer)
    case 'functions':
      return functionsOf(turn.offer)
    case 'call': {
      const item = itemOf(turn)
      if (item === undefined) return errorShape(textOf(turn.output))
      const { server, environmentId: environment, tool, result, error, status } = item
      const outcome = result ? callShape({ ...result, isError: status === 'failed' }) : callError(error?.message ?? '')
      return { [`${keyShape({ name: server, environment })}/${tool}`]: outcome }
    }
    case 'function': {
      const item = itemOf(turn)
      return functionOutputShape(textOf(turn.output), item && { ...item, environment: item.environmentId })
    }
  }
}

export function startupsOf(told: readonly Notification[]): Json {
  const startups = told
    .filter(({ method }) => method === 'mcpServer/startupStatus/updated')
    .map(({ params }) => Startup.parse(params))
  return startupsShape(startups.map(({ environmentId, ...startup }) => ({ ...startup, environment: environmentId })))
}

/** Codex has namespaces of its own beside those of servers. */
function namespacesOf(offer: Offer | undefined): Json {
  const namespaces = (offer?.tools ?? []).filter(({ type, name }) => type === 'namespace' && name?.startsWith('mcp__'))
  return namespaces.map(({ name = '', description = '', tools = [] }) =>
    namespaceShape({
      name,
      description,
      tools: tools.map((tool) => ({
        name: tool.name ?? '',
        description: tool.description ?? '',
        parameters: tool.parameters ?? null,
      })),
    }),
  )
}

function functionsOf(offer: Offer | undefined): Json {
  const functions = (offer?.tools ?? []).filter(
    ({ type, name }) => type === 'function' && name?.includes('mcp_resource'),
  )
  return functions.map(({ name = '', parameters }) => functionShape(name, parameters))
}

function itemOf({ told, output }: CodexTurn): z.infer<typeof Item> | undefined {
  return told
    .filter(({ method }) => method === 'item/completed')
    .map(({ params }) => Item.safeParse(params.item).data)
    .find((item) => item?.id === output?.callId)
}

/** The model is told of a failed call in a frame that names it again. */
function callError(message: string): Json {
  const [, inner = message] = /^tool call error: .*?\n\nCaused by:\n {4}(.*)$/s.exec(message) ?? []
  const [, code, text = ''] = /^Mcp error: (-?\d+): (.*)$/s.exec(inner) ?? []
  return code === undefined ? errorShape(inner) : errorShape(text, Number(code))
}

function textOf(output: Output | undefined): string {
  const told = output?.output
  if (typeof told === 'string') return told
  return Texts.parse(told)
    .map(({ text }) => text)
    .filter((text) => !text.startsWith('Wall time: '))
    .join('\n')
}
