import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  EnvironmentError,
  Reeve,
  ReeveError,
  RpcError,
  type ServerSelector,
  type Step,
  type Thread,
  type ThreadEvent,
  UnsupportedCallError,
} from '../../../src/reeve.js'
import { isModelQuestion, type Json, type ModelQuestion, type Question, type Side } from './questions.js'
import {
  CallResult,
  callShape,
  errorShape,
  functionOutputShape,
  functionShape,
  keyShape,
  namespaceShape,
  ReadResult,
  readShape,
  rowsShape,
  selectionShape,
  startupsShape,
} from './shapes.js'
import type { World } from './world.js'

/** Reeve's library, with a thread in a world. */
export async function reeveSide(world: World): Promise<Side> {
  const home = world.place('reeve-home')
  await mkdir(home, { recursive: true })
  const config = join(home, 'config.toml')
  await writeFile(config, world.config)
  await writeFile(join(home, 'environments.toml'), world.environments)
  const reeve = await Reeve.open({
    home,
    configFiles: [config],
    cwd: world.place('host'),
    env: { ...world.env, HOME: home },
    features: { multi_environment_mcp: world.plan.multiEnvironment ?? true },
  })
  const events = new Told()
  try {
    const { environments } = world.plan
    const start = {
      environments: environments.map((id) => ({ id })),
      onEvent: (event: ThreadEvent) => events.take(event),
    }
    const thread = new ReeveThread(world, reeve, await startThread(world, reeve, start), events)
    return {
      answers: (questions) => thread.answers(questions),
      recovered: (environment) => thread.recovered(environment),
      [Symbol.asyncDispose]: () => reeve.close(),
    }
  } catch (error) {
    await reeve.close()
    throw error
  }
}

function startThread(
  world: World,
  reeve: Reeve,
  {
    environments,
    roots = world.roots,
    onEvent,
  }: Omit<Extract<Question, { ask: 'start' }>, 'ask'> & { readonly onEvent?: (event: ThreadEvent) => void },
): Promise<Thread> {
  return reeve.startThread({
    ...(environments && { environments: environments.map(({ id, cwd = world.place(id) }) => ({ id, cwd })) }),
    capabilityRoots: roots,
    ...(onEvent && { onEvent }),
  })
}

class ReeveThread {
  readonly #world: World
  readonly #reeve: Reeve
  readonly #thread: Thread
  readonly #told: Told

  constructor(world: World, reeve: Reeve, thread: Thread, told: Told) {
    this.#world = world
    this.#reeve = reeve
    this.#thread = thread
    this.#told = told
  }

  async answers(questions: readonly Question[]): Promise<readonly Json[]> {
    const answers: Json[] = []
    let step: Step | undefined
    for (const question of questions) {
      if (isModelQuestion(question)) {
        step ??= await this.#thread.step({ wait: 'all' })
        answers.push(await askStep(step, question))
      } else {
        step = undefined
        answers.push(await this.#answer(question))
      }
    }
    return answers
  }

  /** Its servers are up when one of them answers; each event may be the one that says so. */
  async recovered(environment: string): Promise<void> {
    for (;;) {
      const before = this.#told.events.length
      const answered = await this.#thread.callTool({ server: 'notes', environment, tool: 'whoami' }).then(
        () => true,
        () => false,
      )
      if (answered) return
      await this.#told.more(before)
    }
  }

  async #answer(question: Exclude<Question, ModelQuestion>): Promise<Json> {
    const { folder } = this.#world
    switch (question.ask) {
      case 'rows':
        return rowsShape(
          this.#thread.servers().map(({ key, status, tools = 0 }) => ({
            ...key,
            status: status.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
            tools,
          })),
        )
      case 'startups':
        return startupsShape(
          this.#told.events
            .filter((event) => event.type === 'status')
            .map(({ key, status, error }) => ({ ...key, status, ...(error !== undefined && { error }) })),
        )
      case 'selection':
        return selectionShape(this.#thread.environments, { folder, sorted: false })
      case 'reload':
        await this.#reeve.reload()
        return null
      case 'select':
        await this.#thread.select(question.environments.map((id) => ({ id, cwd: this.#world.place(id) })))
        return null
      case 'start':
        return settled(async () => {
          await using further = await startThread(this.#world, this.#reeve, question)
          return selectionShape(further.environments, { folder, sorted: question.environments === undefined })
        })
      case 'direct': {
        const { tool, arguments: args } = question
        const call = { ...selector(question), tool, ...(args !== undefined && { arguments: args }) }
        return settled(async () => callShape(CallResult.parse(await this.#thread.callTool(call))))
      }
      case 'read':
        return settled(async () =>
          readShape(ReadResult.parse(await this.#thread.resources.read({ ...selector(question), uri: question.uri }))),
        )
    }
  }
}

async function askStep(step: Step, question: ModelQuestion): Promise<Json> {
  switch (question.ask) {
    case 'namespaces':
      return step.namespaces.map(({ name, description, tools }) =>
        namespaceShape({
          name,
          description,
          tools: tools.map((tool) => ({
            name: tool.name,
            description: tool.description ?? '',
            parameters: tool.definition.inputSchema ?? null,
          })),
        }),
      )
    case 'functions':
      return step.functions.map(({ name, parameters }) => functionShape(name, parameters))
    case 'call': {
      const { ask: _, ...call } = question
      const tool = step.tools.find(({ namespace, name }) => namespace === call.namespace && name === call.name)
      const outcome = await settled(async () => callShape(CallResult.parse(await step.call(call))))
      return tool === undefined ? outcome : { [`${keyShape(tool.key)}/${tool.tool}`]: outcome }
    }
    case 'function': {
      const answered = await step.callFunction(question.name, question.arguments).catch((error: unknown) => {
        if (error instanceof UnsupportedCallError) return { output: error.message, item: undefined }
        throw error
      })
      return functionOutputShape(answered.output, answered.item)
    }
  }
}

/** What the thread tells, and how to wait for more of it. */
class Told {
  readonly events: ThreadEvent[] = []
  readonly #waiting = new Set<() => void>()

  take(event: ThreadEvent): void {
    this.events.push(event)
    for (const look of this.#waiting) look()
  }

  /** Resolves once there are more than `known`. */
  more(known: number): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (this.events.length <= known) return
        this.#waiting.delete(look)
        resolve()
      }
      this.#waiting.add(look)
      look()
    })
  }
}

function selector({ server, environment }: ServerSelector): ServerSelector {
  return { server, ...(environment !== undefined && { environment }) }
}

async function settled(ask: () => Promise<Json>): Promise<Json> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof RpcError) return errorShape(error.message, error.rpcCode)
    // Which step of getting there it was is a matter of moments.
    if (isOfEnvironment(error)) return errorShape('the environment cannot be used')
    if (error instanceof ReeveError) return errorShape(error.message)
    throw error
  }
}

function isOfEnvironment(error: unknown): boolean {
  if (error instanceof EnvironmentError) return error.code !== 'environment_unauthorized'
  return error instanceof ReeveError && isOfEnvironment(error.cause)
}
