import fc from 'fast-check'
import type { JsonObject, JsonValue } from '../../../../src/protocol/index.js'
import type { Era, Question } from '../clients/client.js'
import { ANY_JSON, open, UNKNOWN_MEMBERS, UNKNOWN_META } from './unknown-members.js'

/** Everything that is said in one conversation, with unknown members at every level. */
export interface World {
  /** Whether the server is the client's own, and so is told of it rather than of Reeve. */
  readonly isolated: boolean
  readonly clientInfo: JsonObject
  readonly clientCapabilities: JsonObject
  /** The server's introduction. */
  readonly hello: JsonObject
  /** The members of every listing beside its items. */
  readonly lists: JsonObject
  readonly tools: readonly ToolTalk[]
  readonly task: TaskTalk
  readonly resources: readonly ResourceTalk[]
  readonly templates: readonly JsonObject[]
  readonly prompts: readonly PromptTalk[]
  readonly completions: readonly Talk[]
  /** Of a method that nobody knows. */
  readonly custom: Talk
  /** Of a client's notification that nobody knows. */
  readonly told: JsonObject
}

/** A request's params beside those that name its target, and what it is answered with. */
export interface Talk {
  readonly params: JsonObject
  readonly result: JsonObject
}

export interface ToolTalk extends Talk {
  readonly definition: JsonObject
  /** Notifications while the tool works. */
  readonly progress: JsonObject
  readonly log: JsonObject
  readonly news: JsonObject
  /** To those who watch the first resource. */
  readonly update: JsonObject
  readonly question: Question
  readonly answer: JsonObject
  /** How a new server asks, beside the question itself. */
  readonly asking: JsonObject
  /** Instead of the result. */
  readonly error?: JsonObject
}

/** A tool that becomes a task; `result` is what the task comes to. */
export interface TaskTalk extends Talk {
  readonly definition: JsonObject
  /** As it is told first, and in the end. */
  readonly begun: JsonObject
  readonly ended: JsonObject
  /** Of the old era, around the task. */
  readonly around: JsonObject
}

export interface ResourceTalk extends Talk {
  readonly listed: JsonObject
}

export interface PromptTalk extends Talk {
  readonly listed: JsonObject
}

const text = fc.string({ unit: 'grapheme', maxLength: 8 })
const is = <T extends JsonValue>(value: T) => fc.constant(value)
const many = <T>(arbitrary: fc.Arbitrary<T>, count = 3) => fc.array(arbitrary, { minLength: 1, maxLength: count })

const annotations = open({ audience: is(['user']), priority: is(0.5) })
const icons = many(open({ src: is('https://example.com/i.png'), mimeType: is('image/png') }), 2)
const params = (members: Readonly<Record<string, fc.Arbitrary<JsonValue>>> = {}) =>
  open({ ...members, _meta: UNKNOWN_META })

const link = open({ type: is('resource_link'), uri: is('test://one'), name: text, annotations, _meta: UNKNOWN_META })
const embedded = open({
  type: is('resource'),
  resource: open({ uri: is('test://one'), mimeType: is('text/plain'), text, _meta: UNKNOWN_META }),
  annotations,
})
const content = fc.oneof(
  open({ type: is('text'), text, annotations, _meta: UNKNOWN_META }),
  open({ type: is('image'), data: is('AAAA'), mimeType: is('image/png'), annotations }),
  open({ type: is('audio'), data: is('AAAA'), mimeType: is('audio/wav') }),
  open({ type: fc.constantFrom('com.example/unheard-of', 'hologram'), inner: ANY_JSON }),
  link,
  embedded,
)

const schema = open({
  type: is('object'),
  properties: open({ at: open({ type: is('string'), description: text }) }),
  required: is(['at']),
})

const definition = (name: string) =>
  open({
    name: is(name),
    title: text,
    description: text,
    inputSchema: schema,
    outputSchema: schema,
    annotations: open({ readOnlyHint: is(true) }),
    icons,
    _meta: UNKNOWN_META,
  })

const form = open({ message: text, requestedSchema: schema, _meta: UNKNOWN_META })
const sampling = open({
  messages: many(open({ role: is('user'), content: open({ type: is('text'), text }) })),
  maxTokens: is(7),
  metadata: UNKNOWN_MEMBERS,
  _meta: UNKNOWN_META,
})

/** Questions with their answers. */
const questions: fc.Arbitrary<Pick<ToolTalk, 'question' | 'answer'>> = fc.oneof(
  fc.record({
    question: fc.record({ method: is('elicitation/create'), params: form }),
    answer: open({ action: is('accept'), content: open({ at: text }), _meta: UNKNOWN_META }),
  }),
  fc.record({
    question: fc.record({ method: is('sampling/createMessage'), params: sampling }),
    answer: open({
      role: is('assistant'),
      model: text,
      content: open({ type: is('text'), text }),
      _meta: UNKNOWN_META,
    }),
  }),
  fc.record({
    question: fc.record({ method: is('roots/list'), params: open({ _meta: UNKNOWN_META }) }),
    answer: open({ roots: many(open({ uri: is('file:///r'), name: text, _meta: UNKNOWN_META })), _meta: UNKNOWN_META }),
  }),
)

function tool(name: string, structured: fc.Arbitrary<JsonValue>): fc.Arbitrary<ToolTalk> {
  const result = open({
    content: many(content),
    structuredContent: structured,
    isError: fc.boolean(),
    _meta: UNKNOWN_META,
  })
  const talk = fc.record({
    definition: definition(name),
    params: params({ arguments: UNKNOWN_MEMBERS }),
    progress: open({ progress: fc.integer({ min: 0, max: 9 }), _meta: UNKNOWN_META }),
    log: open({ level: is('warning'), logger: text, data: ANY_JSON, _meta: UNKNOWN_META }),
    news: open({ _meta: UNKNOWN_META }),
    update: open({ uri: is('test://one'), _meta: UNKNOWN_META }),
    asking: open({ requestState: fc.string({ unit: 'grapheme', minLength: 1 }), _meta: UNKNOWN_META }),
    result,
  })
  const error = fc.record({ code: fc.integer({ min: -31999, max: -1 }), message: text, data: ANY_JSON })
  return fc
    .tuple(talk, questions, fc.option(error, { freq: 3 }))
    .map(([said, asked, failed]) => ({ ...said, ...asked, ...(failed !== null && { error: failed }) }))
}

const task = (status: string, server: Era) =>
  open({
    taskId: is('task-1'),
    status: is(status),
    createdAt: is('2026-08-01T00:00:00Z'),
    lastUpdatedAt: is('2026-08-01T00:00:01Z'),
    [server === 'old' ? 'ttl' : 'ttlMs']: is(60_000),
  })

const taskTalk = (server: Era): fc.Arbitrary<TaskTalk> =>
  fc.record({
    definition: fc
      .tuple(definition('task'), open({ taskSupport: is('optional') }))
      .map(([defined, execution]) => (server === 'old' ? { ...defined, execution } : defined)),
    params: params({ arguments: UNKNOWN_MEMBERS }),
    begun: task('working', server),
    ended: task('completed', server),
    around: open({ _meta: UNKNOWN_META }),
    result: open({ content: many(content), _meta: UNKNOWN_META }),
  })

const resource = (name: string): fc.Arbitrary<ResourceTalk> =>
  fc.record({
    listed: open({ uri: is(`test://${name}`), name: is(name), title: text, annotations, icons, _meta: UNKNOWN_META }),
    params: params(),
    result: open({
      contents: many(
        fc.oneof(
          open({ uri: is(`test://${name}`), mimeType: text, text, _meta: UNKNOWN_META }),
          open({ uri: is(`test://${name}`), blob: is('AAAA') }),
        ),
      ),
      _meta: UNKNOWN_META,
    }),
  })

const prompt = (name: string): fc.Arbitrary<PromptTalk> =>
  fc.record({
    listed: open({
      name: is(name),
      description: text,
      arguments: many(open({ name: text, required: fc.boolean() })),
      icons,
      _meta: UNKNOWN_META,
    }),
    params: params(),
    result: open({ description: text, messages: many(open({ role: is('user'), content })), _meta: UNKNOWN_META }),
  })

const completion = (value: string): fc.Arbitrary<Talk> =>
  fc.record({
    params: params({
      argument: open({ name: is('at'), value: is(value) }),
      context: open({ arguments: is({ a: 'b' }) }),
    }),
    result: open({ completion: open({ values: is(['x']), total: is(1), hasMore: is(false) }), _meta: UNKNOWN_META }),
  })

const capabilities = open({
  tools: open({ listChanged: is(true) }),
  resources: open({ listChanged: is(true), subscribe: is(true) }),
  prompts: open({ listChanged: is(true) }),
  completions: open({}),
  logging: open({}),
  experimental: UNKNOWN_MEMBERS,
  extensions: open({ 'io.modelcontextprotocol/tasks': is({}) }),
  tasks: is({ list: {}, cancel: {}, requests: { tools: { call: {} } } }),
})

const implementation = open({ name: text, version: text, title: text, icons })

/** What these two can say to each other. An old client is told of structured content only when it is an object. */
export function world({ client, server }: Readonly<Record<'client' | 'server', Era>>): fc.Arbitrary<World> {
  const structured: fc.Arbitrary<JsonValue> = client === 'old' ? UNKNOWN_MEMBERS : ANY_JSON
  return fc.record({
    isolated: fc.boolean(),
    clientInfo: implementation,
    clientCapabilities: open({
      roots: open({}),
      sampling: open({}),
      elicitation: open({ form: open({}), url: open({}) }),
      experimental: UNKNOWN_MEMBERS,
      extensions: open({ 'io.modelcontextprotocol/tasks': is({}) }),
    }),
    hello: open({ serverInfo: implementation, capabilities, instructions: text, _meta: UNKNOWN_META }),
    lists: open({ _meta: UNKNOWN_META }),
    tools: fc.tuple(...['t1', 't2', 't3', 't4', 't5'].map((name) => tool(name, structured))),
    task: taskTalk(server),
    resources: fc.tuple(...['one', 'two', 'three'].map(resource)),
    templates: fc
      .tuple(open({ name: text, title: text, annotations, _meta: UNKNOWN_META }))
      .map(([template]) => [{ uriTemplate: 'test://{any}', ...template }]),
    prompts: fc.tuple(...['p1', 'p2', 'p3'].map(prompt)),
    completions: fc.tuple(completion('first'), completion('second')),
    custom: fc.record({ params: params(), result: open({ _meta: UNKNOWN_META }) }),
    told: params(),
  })
}
