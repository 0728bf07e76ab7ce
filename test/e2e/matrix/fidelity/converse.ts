import type { JsonObject } from '../../../../src/protocol/index.js'
import { type EraClient, RefusedError } from '../clients/client.js'
import { NewClient } from '../clients/new-client.js'
import type { Names } from '../names.js'
import { bare, NOTHING, ofCapabilities, ofParams, ofResult } from './across.js'
import { type Passage, without } from './passages.js'
import { NEWS } from './script-of.js'
import type { ScriptedServer } from './scripted-server.js'
import type { Talk, ToolTalk, World } from './world.js'

const RELATED = /^io\.modelcontextprotocol\/related-task$/

export interface Sides {
  readonly world: World
  readonly client: EraClient
  readonly server: ScriptedServer
  readonly names: Names
  /** What the server was answered, by the tool that asked. */
  readonly answers: ReadonlyMap<string, JsonObject>
}

/** Says everything of a world through a merged gateway. */
export async function converse(sides: Sides): Promise<readonly Passage[]> {
  const { client, world } = sides
  await client.setLogLevel('debug')
  return [
    ...(await listings(sides)),
    ...(await inTurn(world.tools, (talk) => call(sides, talk))),
    ...(client.era === sides.server.era ? await runTask(sides) : []),
    ...(await inTurn(world.resources, (talk) => read(sides, talk))),
    ...(await inTurn(world.prompts, (talk) => getPrompt(sides, talk))),
    ...(await inTurn(world.completions, (talk) => complete(sides, talk))),
    ...clientAsTold(sides),
  ]
}

/** What the server was told of the client, in the way of its own era. */
function clientAsTold({ server, world }: Sides): Passage[] {
  const hello = server.last('initialize')
  const meta = (server.last('tools/call')?._meta ?? {}) as JsonObject
  const own = (member: string) => meta[`io.modelcontextprotocol/${member}`]
  return [
    ...(world.isolated
      ? [{ place: 'clientInfo', sent: world.clientInfo, came: hello?.clientInfo ?? own('clientInfo') }]
      : []),
    ofCapabilities('client capabilities', world.clientCapabilities, hello?.capabilities ?? own('clientCapabilities')),
  ]
}

async function listings({ client, server, names, world }: Sides): Promise<Passage[]> {
  const list = async (method: string, member: string) => (await client.request(method))[member] as JsonObject[]
  // Whether a tool runs as a task is said in each era's own way.
  const plain = (tool: JsonObject) => (client.era === server.era ? tool : without(tool, ['execution'], NOTHING))
  return [
    ...pairs(
      'a tool',
      [...world.tools, world.task].map(({ definition }) => plain(named(definition, names))),
      (await list('tools/list', 'tools')).map(plain),
    ),
    ...pairs(
      'a resource',
      world.resources.map(({ listed }) => withUri(listed, names)),
      await list('resources/list', 'resources'),
    ),
    ...pairs(
      'a template',
      world.templates.map((template) => ({ ...template, uriTemplate: names.uri(String(template.uriTemplate)) })),
      await list('resources/templates/list', 'resourceTemplates'),
    ),
    ...pairs(
      'a prompt',
      world.prompts.map(({ listed }) => named(listed, names)),
      await list('prompts/list', 'prompts'),
    ),
  ]
}

async function call(sides: Sides, talk: ToolTalk): Promise<Passage[]> {
  const { client, server, names, answers, world } = sides
  const { definition, question } = talk
  const name = String(definition.name)
  const before = { heard: client.heard.count, asked: client.asked.length }
  client.answer = () => talk.answer
  const first = names.uri(String(world.resources[0]?.listed.uri))
  const watching = await client.watch({ uris: [first] })
  const outcome = await outcomeOf(client, { ...talk.params, name: names.of(name) })
  const heard = async (method: string) => client.heard.next(method, before.heard)
  const passages = [
    ofParams('params of tools/call', { ...talk.params, name }, server.last('tools/call')),
    talk.error === undefined
      ? {
          place: 'result of tools/call',
          sent: bare(linked(talk.result, names)),
          came: outcome.result && bare(outcome.result),
        }
      : { place: 'error of tools/call', sent: talk.error, came: outcome.error },
    ofParams(
      'params of progress',
      talk.progress,
      without(await heard('notifications/progress'), ['progressToken'], NOTHING),
    ),
    ofParams(
      'params of a log message',
      { ...talk.log, logger: `${names.server}/${talk.log.logger}` },
      await heard('notifications/message'),
    ),
    ofParams('params of an unknown notification', talk.news, await heard(NEWS)),
    ofParams(
      'params of resources/updated',
      withUri(talk.update, names),
      await heard('notifications/resources/updated'),
    ),
    { place: `method of ${question.method}`, sent: question.method, came: client.asked.at(before.asked)?.method },
    ofParams(`params of ${question.method}`, question.params, client.asked.at(before.asked)?.params),
    {
      place: `answer to ${question.method}`,
      sent: without(talk.answer, [], NOTHING),
      came: without(answers.get(name) ?? {}, ['requestState'], NOTHING),
    },
    ...asking(sides, talk),
  ]
  await watching[Symbol.asyncDispose]()
  return passages
}

/** How a new server asked, on both sides: its state comes back to it, though the gateway may wrap it on the way. */
function asking({ client, answers }: Sides, { definition, asking: sent, question }: ToolTalk): Passage[] {
  const state = answers.get(String(definition.name))?.requestState
  const passages: Passage[] = []
  if (state !== undefined) passages.push({ place: 'requestState', sent: sent.requestState, came: state })
  if (state !== undefined && client instanceof NewClient) {
    const whole = { ...sent, inputRequests: { ask: { ...question } } }
    const came = client.inputRequired.at(-1) ?? {}
    const [before, after] = [whole, came].map((result) => without(result, ['requestState'], NOTHING))
    passages.push(ofResult('result that asks for input', before ?? {}, after ?? {}))
  }
  return passages
}

/** Between two of one era: across, a task is another thing. Its id may be the gateway's. */
async function runTask({ client, server, names, world }: Sides): Promise<Passage[]> {
  const { definition, params, begun, ended, around, result } = world.task
  const call = {
    ...params,
    name: names.of(String(definition.name)),
    ...(client.era === 'old' && { task: { ttl: 60_000 } }),
  }
  const first = await client.request('tools/call', call)
  const told = (client.era === 'old' ? first.task : first) as JsonObject
  const at = { taskId: String(told.taskId) }
  const last = await client.request('tasks/get', at)
  const plain = (task: JsonObject) => bare(without(task, ['taskId', 'task', 'result'], NOTHING))
  const passages = [
    ofParams('params of tools/call for a task', { ...call, name: String(definition.name) }, server.last('tools/call')),
    { place: 'a task that begins', sent: plain(begun), came: plain(told) },
    { place: 'a task that has ended', sent: plain(ended), came: plain(last) },
  ]
  if (client.era === 'old') passages.push({ place: 'around a task', sent: plain(around), came: plain(first) })
  const came = client.era === 'old' ? await client.request('tasks/result', at) : (last.result as JsonObject)
  const sent = bare(linked(result, names))
  return [...passages, { place: 'result of a task', sent, came: without(bare(came), [], RELATED) }]
}

async function read({ client, server, names }: Sides, { listed, params, result }: Talk & { listed: JsonObject }) {
  const uri = String(listed.uri)
  const came = await client.request('resources/read', { ...params, uri: names.uri(uri) })
  const contents = (result.contents as JsonObject[]).map((content) => withUri(content, names))
  return [
    ofParams('params of resources/read', { ...params, uri }, server.last('resources/read')),
    { place: 'result of resources/read', sent: bare({ ...result, contents }), came: bare(came) },
  ]
}

async function getPrompt({ client, server, names }: Sides, { listed, params, result }: Talk & { listed: JsonObject }) {
  const name = String(listed.name)
  const came = await client.request('prompts/get', { ...params, name: names.of(name) })
  const messages = (result.messages as JsonObject[]).map((message) => ({
    ...message,
    content: linkedBlock(message.content as JsonObject, names),
  }))
  return [
    ofParams('params of prompts/get', { ...params, name }, server.last('prompts/get')),
    { place: 'result of prompts/get', sent: bare({ ...result, messages }), came: bare(came) },
  ]
}

async function complete({ client, server, names, world }: Sides, { params, result }: Talk) {
  const name = String(world.prompts[0]?.listed.name)
  const ref = { type: 'ref/prompt', 'com.example/ref': { kept: true }, name }
  const came = await client.request('completion/complete', { ...params, ref: { ...ref, name: names.of(name) } })
  return [
    ofParams('params of completion/complete', { ...params, ref }, server.last('completion/complete')),
    { place: 'result of completion/complete', sent: bare(result), came: bare(came) },
  ]
}

async function outcomeOf(client: EraClient, params: JsonObject): Promise<{ result?: JsonObject; error?: JsonObject }> {
  return client.request('tools/call', params, { progressToken: 'token' }).then(
    (result) => ({ result }),
    (error: unknown) => {
      if (!(error instanceof RefusedError)) throw error
      return { error: error.body }
    },
  )
}

function pairs(place: string, sent: readonly JsonObject[], came: readonly JsonObject[]): Passage[] {
  return sent.map((value, at) => ({ place, sent: value, came: came[at] }))
}

function named(item: JsonObject, names: Names): JsonObject {
  return { ...item, name: names.of(String(item.name)) }
}

function withUri(item: JsonObject, names: Names): JsonObject {
  return typeof item.uri === 'string' ? { ...item, uri: names.uri(item.uri) } : item
}

function linked(result: JsonObject, names: Names): JsonObject {
  const blocks = (result.content as JsonObject[]).map((block) => linkedBlock(block, names))
  return { ...result, content: blocks }
}

function linkedBlock(block: JsonObject, names: Names): JsonObject {
  if (block.type === 'resource_link') return withUri(block, names)
  if (block.type !== 'resource') return block
  return { ...block, resource: withUri(block.resource as JsonObject, names) }
}

async function inTurn<T>(items: readonly T[], talk: (item: T) => Promise<readonly Passage[]>): Promise<Passage[]> {
  const passages: Passage[] = []
  for (const item of items) passages.push(...(await talk(item)))
  return passages
}
