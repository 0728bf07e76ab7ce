import { z } from 'zod'
import { type CodexApp, startCodexApp } from './codex-app.js'
import { answerOf, type CodexTurn, startupsOf } from './codex-turn.js'
import { isModelQuestion, type Json, type ModelQuestion, type Question, type Side } from './questions.js'
import { type ModelCall, type ScriptedModel, startScriptedModel } from './scripted-model.js'
import { CallResult, callShape, errorShape, ReadResult, readShape, rowsShape, selectionShape } from './shapes.js'
import type { World } from './world.js'

const Started = z.object({
  thread: z.object({
    id: z.string(),
    environments: z.array(z.object({ environmentId: z.string(), cwd: z.string() })),
  }),
})
const Statuses = z.object({
  data: z.array(
    z.object({
      name: z.string(),
      environmentId: z.string().nullish(),
      runtimeStatus: z.string().nullable(),
      tools: z.record(z.string(), z.unknown()),
    }),
  ),
})
const Refusal = z.object({ code: z.number(), message: z.string() })
/** What Codex answers with when the error is its own. */
const OWN_CODES = [-32600, -32603]

/** The real Codex, with a thread in a world. */
export async function codexSide(world: World): Promise<Side> {
  const model = await startScriptedModel()
  const app = await startCodexApp(world, model.url)
  const close = async () => {
    await app[Symbol.asyncDispose]()
    await model[Symbol.asyncDispose]()
  }
  try {
    const { environments } = world.plan
    const started = await startThread(world, app, { ask: 'start', environments: environments.map((id) => ({ id })) })
    const thread = new CodexThread(world, app, model, started)
    return {
      answers: (questions) => thread.answers(questions),
      // It looks for lost executors when the next turn begins.
      recovered: () => Promise.resolve(),
      [Symbol.asyncDispose]: close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

type Thread = z.infer<typeof Started>['thread']

async function startThread(
  world: World,
  app: CodexApp,
  { environments, roots = world.roots }: Extract<Question, { ask: 'start' }>,
): Promise<Thread> {
  const started = await app.request('thread/start', {
    cwd: world.place('host'),
    approvalPolicy: 'never',
    sandbox: 'danger-full-access',
    ...(environments && { environments: environments.map((one) => selected(world, one)) }),
    selectedCapabilityRoots: roots.map(({ id, environment, path }) => ({
      id,
      location: { type: 'environment', environmentId: environment, path },
    })),
  })
  return Started.parse(started).thread
}

function selected(world: World, { id, cwd = world.place(id) }: { readonly id: string; readonly cwd?: string }) {
  return { environmentId: id, cwd }
}

class CodexThread {
  readonly #world: World
  readonly #app: CodexApp
  readonly #model: ScriptedModel
  readonly #thread: Thread
  #select: readonly string[] | undefined

  constructor(world: World, app: CodexApp, model: ScriptedModel, thread: Thread) {
    this.#world = world
    this.#app = app
    this.#model = model
    this.#thread = thread
  }

  async answers(questions: readonly Question[]): Promise<readonly Json[]> {
    const [first, ...rest] = questions
    if (first === undefined) return []
    if (!isModelQuestion(first)) return [await this.#answer(first), ...(await this.answers(rest))]
    const end = questions.findIndex((question) => !isModelQuestion(question))
    const together = questions.slice(0, end === -1 ? questions.length : end).filter(isModelQuestion)
    return [...(await this.#turn(together)), ...(await this.answers(questions.slice(together.length)))]
  }

  /** One turn of the model, with a request for each call. */
  async #turn(questions: readonly ModelQuestion[]): Promise<readonly Json[]> {
    const calls = questions.flatMap((question) => callOf(question) ?? [])
    this.#model.say(calls)
    const since = this.#app.told.length
    const environments = this.#select?.map((id) => selected(this.#world, { id }))
    this.#select = undefined
    await this.#app.request('turn/start', {
      threadId: this.#thread.id,
      input: [{ type: 'text', text: 'Go on.' }],
      ...(environments && { environments }),
    })
    await this.#app.notified(({ method }) => method === 'turn/completed', since)
    const turn: CodexTurn = { offer: this.#model.asked[0], told: this.#app.told.slice(since) }
    let made = 0
    return questions.map((question) => {
      if (callOf(question) === undefined) return answerOf(question, turn)
      made += 1
      return answerOf(question, { ...turn, output: this.#model.output(made - 1) })
    })
  }

  async #answer(question: Exclude<Question, ModelQuestion>): Promise<Json> {
    const threadId = this.#thread.id
    switch (question.ask) {
      case 'rows': {
        const list = await this.#app.request('mcpServerStatus/list', { threadId, detail: 'toolsAndAuthOnly' })
        return rowsShape(
          Statuses.parse(list).data.map(({ name, environmentId = null, runtimeStatus, tools }) => ({
            name,
            environment: environmentId,
            status: runtimeStatus,
            tools: Object.keys(tools).length,
          })),
        )
      }
      case 'startups':
        return startupsOf(this.#app.told)
      case 'selection':
        return this.#selection(this.#thread, false)
      case 'reload':
        await this.#app.request('config/mcpServer/reload', {})
        return null
      case 'select':
        this.#select = question.environments
        return null
      case 'start':
        return settled(async () =>
          this.#selection(await startThread(this.#world, this.#app, question), question.environments === undefined),
        )
      case 'direct': {
        const { server, environment, tool, arguments: args } = question
        const named = { threadId, server, ...(environment !== undefined && { environmentId: environment }) }
        const params = { ...named, tool, ...(args !== undefined && { arguments: args }) }
        return settled(async () => callShape(CallResult.parse(await this.#app.request('mcpServer/tool/call', params))))
      }
      case 'read': {
        const { server, environment, uri } = question
        const named = { threadId, server, ...(environment !== undefined && { environmentId: environment }) }
        return settled(async () =>
          readShape(ReadResult.parse(await this.#app.request('mcpServer/resource/read', { ...named, uri }))),
        )
      }
    }
  }

  #selection({ environments }: Thread, sorted: boolean): Json {
    const selection = environments.map(({ environmentId, cwd }) => ({ id: environmentId, cwd }))
    return selectionShape(selection, { folder: this.#world.folder, sorted })
  }
}

async function settled(ask: () => Promise<Json>): Promise<Json> {
  try {
    return await ask()
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const { code, message } = Refusal.parse(JSON.parse(error.message))
    return OWN_CODES.includes(code) ? errorShape(message) : errorShape(message, code)
  }
}

function callOf(question: ModelQuestion): ModelCall | undefined {
  switch (question.ask) {
    case 'call': {
      const { namespace, name, arguments: args } = question
      return { namespace, name, arguments: args === undefined ? '' : JSON.stringify(args) }
    }
    case 'function': {
      const { name, arguments: args } = question
      return { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) }
    }
    default:
      return undefined
  }
}
