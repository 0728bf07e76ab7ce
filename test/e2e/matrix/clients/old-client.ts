import type { JsonObject } from '../../../../src/protocol/index.js'
import type { Wire } from '../wires/wire.js'
import {
  type EraClient,
  introductionFrom,
  NOT_INTRODUCED,
  type Question,
  RefusedError,
  type RequestOptions,
  type Running,
  type RunningTask,
  requireForm,
  type TaskOutcome,
  usualAnswer,
  type Watched,
} from './client.js'
import { Heard } from './heard.js'
import { Requests } from './requests.js'

const REVISION = '2025-11-25'
/** Of the notifications of a subscription, which this era does not have. */
const NEW_ERA_MARK = 'io.modelcontextprotocol/subscriptionId'

/** A client of the revisions with a handshake, by hand. */
export class OldClient implements EraClient {
  readonly era = 'old'
  readonly heard = new Heard()
  readonly asked: Question[] = []
  readonly faults: string[] = []
  answer: EraClient['answer'] = usualAnswer
  introduction = NOT_INTRODUCED
  readonly #wire: Wire
  readonly #requests: Requests

  constructor(wire: Wire) {
    this.#wire = wire
    this.#requests = new Requests(wire)
    wire.onmessage = (message) => this.#receive(message)
  }

  static async open(
    wire: Wire,
    capabilities: JsonObject,
    clientInfo: JsonObject,
    further: JsonObject = {},
  ): Promise<OldClient> {
    const client = new OldClient(wire)
    const hello = { ...further, protocolVersion: REVISION, capabilities, clientInfo }
    const { protocolVersion, ...introduction } = await client.#requests.send('initialize', hello).result
    requireForm('initialize', protocolVersion === REVISION, `protocolVersion ${protocolVersion}`)
    client.introduction = introductionFrom(introduction.serverInfo, introduction)
    await wire.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
    return client
  }

  request(method: string, params: JsonObject = {}, options: RequestOptions = {}): Promise<JsonObject> {
    return this.start(method, params, options).result
  }

  start(method: string, params: JsonObject = {}, { progressToken, meta }: RequestOptions = {}): Running {
    const _meta = {
      ...(params._meta as JsonObject | undefined),
      ...meta,
      ...(progressToken !== undefined && { progressToken }),
    }
    const sent = { ...params, ...(Object.keys(_meta).length > 0 && { _meta }) }
    const { id, result } = this.#requests.send(method, sent)
    return {
      result: result.then((received) => {
        requireForm(method, !Object.hasOwn(received, 'resultType'), `resultType ${received.resultType}`)
        requireForm(method, !Object.hasOwn(received, 'ttlMs'), `ttlMs ${received.ttlMs}`)
        return received
      }),
      cancel: () => this.#wire.cancel(id),
    }
  }

  notify(method: string, params: JsonObject): Promise<void> {
    return this.#wire.send({ jsonrpc: '2.0', method, params })
  }

  async watch({ uris = [] }: Watched): Promise<AsyncDisposable> {
    for (const uri of uris) await this.request('resources/subscribe', { uri })
    return {
      [Symbol.asyncDispose]: async () => {
        for (const uri of uris) await this.request('resources/unsubscribe', { uri })
      },
    }
  }

  /** Sessions always have a level; without one of their own it is the server's. */
  async setLogLevel(level: string | undefined): Promise<void> {
    await this.request('logging/setLevel', { level: level ?? 'emergency' })
  }

  async startTask(name: string, args: JsonObject): Promise<RunningTask> {
    const { task } = await this.request('tools/call', { name, arguments: args, task: { ttl: 60_000 } })
    const { taskId } = (task ?? {}) as JsonObject
    requireForm('tools/call', typeof taskId === 'string', 'no task')
    const at = { taskId: String(taskId) }
    return {
      ...at,
      outcome: () => this.#outcome(at),
      cancel: async () => void (await this.request('tasks/cancel', at)),
    }
  }

  async #outcome(at: { taskId: string }): Promise<TaskOutcome> {
    const ended: Partial<TaskOutcome> = await this.request('tasks/result', at).then(
      (result) => ({ result }),
      (error: unknown) => {
        if (!(error instanceof RefusedError)) throw error
        return { error: error.body }
      },
    )
    const { status } = await this.request('tasks/get', at)
    return { ...at, status: String(status), ...ended }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#wire[Symbol.asyncDispose]()
  }

  #receive(message: JsonObject): void {
    const { id, method, params = {} } = message
    if (typeof method !== 'string') return
    if (id === undefined) {
      if (JSON.stringify(message).includes(NEW_ERA_MARK)) this.faults.push(JSON.stringify(message))
      this.heard.add({ method, params: params as JsonObject })
      return
    }
    const question = { method, params: params as JsonObject }
    this.asked.push(question)
    const answered = Promise.resolve(this.answer(question)).then((result) => ({ jsonrpc: '2.0', id, result }))
    // A wire that broke shows in the request that waits for this answer.
    answered.then((answer) => this.#wire.send(answer)).catch(() => undefined)
  }
}
