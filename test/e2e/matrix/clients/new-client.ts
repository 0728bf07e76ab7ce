import type { JsonObject, JsonValue } from '../../../../src/protocol/index.js'
import type { Wire } from '../wires/wire.js'
import {
  type EraClient,
  introductionFrom,
  NOT_INTRODUCED,
  type Question,
  type RequestOptions,
  type Running,
  type RunningTask,
  requireForm,
  type TaskOutcome,
  usualAnswer,
  type Watched,
} from './client.js'
import { Heard } from './heard.js'
import { Requests, type SentRequest } from './requests.js'

export const NEW_REVISION = '2026-07-28'
const OWN = 'io.modelcontextprotocol/'
const ROUNDS = 10
const POLL_MS = 50
const TERMINAL = ['completed', 'failed', 'cancelled']
const CACHEABLE = [
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
]

/** A client of the revision without a handshake, by hand. */
export class NewClient implements EraClient {
  readonly era = 'new'
  readonly heard = new Heard()
  readonly asked: Question[] = []
  readonly faults: string[] = []
  /** Results that asked for input, as they came. */
  readonly inputRequired: JsonObject[] = []
  answer: EraClient['answer'] = usualAnswer
  introduction = NOT_INTRODUCED
  readonly #wire: Wire
  readonly #requests: Requests
  readonly #capabilities: JsonObject
  readonly #info: JsonObject
  readonly #subscriptions = new Set<JsonValue | undefined>()
  #logLevel: string | undefined

  constructor(wire: Wire, capabilities: JsonObject, info: JsonObject) {
    this.#info = info
    this.#wire = wire
    this.#capabilities = capabilities
    this.#requests = new Requests(wire)
    wire.onmessage = (message) => this.#receive(message)
  }

  static async open(
    wire: Wire,
    capabilities: JsonObject,
    info: JsonObject,
    further: JsonObject = {},
  ): Promise<NewClient> {
    const client = new NewClient(wire, capabilities, info)
    const found = await client.request('server/discover', further)
    const { supportedVersions, _meta } = found
    requireForm('server/discover', JSON.stringify(supportedVersions).includes(NEW_REVISION), 'supportedVersions')
    const { [`${OWN}serverInfo`]: serverInfo } = (_meta ?? {}) as JsonObject
    client.introduction = introductionFrom(serverInfo, found)
    return client
  }

  request(method: string, params: JsonObject = {}, options: RequestOptions = {}): Promise<JsonObject> {
    return this.start(method, params, options).result
  }

  /** Repeats the request with the answers for as long as the result asks for input. */
  start(method: string, params: JsonObject = {}, options: RequestOptions = {}): Running {
    let last = this.#send(method, params, options)
    const result = (async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const received = await last.result
        requireForm(method, typeof received.resultType === 'string', 'no resultType')
        if (received.resultType !== 'input_required') return this.#checked(method, received)
        this.inputRequired.push(received)
        last = this.#send(method, await this.#answered(params, received), options)
      }
      throw new Error(`${method} still asks after ${ROUNDS} rounds`)
    })()
    return { result, cancel: () => this.#wire.cancel(last.id) }
  }

  notify(method: string, params: JsonObject): Promise<void> {
    return this.#wire.send({ jsonrpc: '2.0', method, params })
  }

  async watch({ uris, lists, taskIds }: Watched): Promise<AsyncDisposable> {
    const before = this.heard.count
    const notifications = {
      ...(lists && { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true }),
      ...(uris && { resourceSubscriptions: [...uris] }),
      ...(taskIds && { taskIds: [...taskIds] }),
    }
    const { id, unbounded } = this.#send('subscriptions/listen', { notifications }, {})
    this.#subscriptions.add(id)
    const acknowledged = this.heard.next('notifications/subscriptions/acknowledged', before, ofSubscription(id))
    const ended = unbounded.then(() => {
      throw new Error('subscriptions/listen ended')
    })
    await Promise.race([acknowledged, ended])
    return { [Symbol.asyncDispose]: () => this.#wire.cancel(id) }
  }

  async setLogLevel(level: string | undefined): Promise<void> {
    this.#logLevel = level
  }

  async startTask(name: string, args: JsonObject): Promise<RunningTask> {
    const { resultType, taskId } = await this.request('tools/call', { name, arguments: args })
    requireForm('tools/call', resultType === 'task' && typeof taskId === 'string', `resultType ${resultType}`)
    const at = { taskId: String(taskId) }
    return {
      ...at,
      outcome: () => this.#outcome(at),
      cancel: async () => void (await this.request('tasks/cancel', at)),
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#wire[Symbol.asyncDispose]()
  }

  /** Polls, as the extension has it, and answers what the task asks. */
  async #outcome(at: { taskId: string }): Promise<TaskOutcome> {
    for (;;) {
      const { status, result, error, inputRequests } = await this.request('tasks/get', at)
      if (status === 'input_required') {
        await this.request('tasks/update', {
          ...at,
          inputResponses: await this.#responses(inputRequests as JsonObject),
        })
      }
      if (TERMINAL.includes(String(status))) {
        return {
          ...at,
          status: String(status),
          ...(result !== undefined && { result: result as JsonObject }),
          ...(error !== undefined && { error: error as JsonObject }),
        }
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    }
  }

  #send(method: string, params: JsonObject, { progressToken, meta }: RequestOptions): SentRequest {
    const _meta: JsonObject = {
      ...(params._meta as JsonObject | undefined),
      ...meta,
      [`${OWN}protocolVersion`]: NEW_REVISION,
      [`${OWN}clientInfo`]: this.#info,
      [`${OWN}clientCapabilities`]: this.#capabilities,
      ...(this.#logLevel !== undefined && { [`${OWN}logLevel`]: this.#logLevel }),
      ...(progressToken !== undefined && { progressToken }),
    }
    return this.#requests.send(method, { ...params, _meta })
  }

  async #answered(params: JsonObject, { inputRequests = {}, requestState }: JsonObject): Promise<JsonObject> {
    const inputResponses = await this.#responses(inputRequests as JsonObject)
    return { ...params, inputResponses, ...(requestState !== undefined && { requestState }) }
  }

  async #responses(requests: JsonObject): Promise<JsonObject> {
    const answered = Object.entries(requests).map(async ([name, request]) => {
      const { method, params = {} } = request as JsonObject
      const question = { method: String(method), params: params as JsonObject }
      this.asked.push(question)
      return [name, await this.answer(question)] as const
    })
    return Object.fromEntries(await Promise.all(answered))
  }

  #checked(method: string, result: JsonObject): JsonObject {
    if (!CACHEABLE.includes(method)) return result
    const { ttlMs, cacheScope } = result
    const hinted = typeof ttlMs === 'number' && ttlMs >= 0 && ['public', 'private'].includes(String(cacheScope))
    requireForm(method, hinted, `ttlMs ${ttlMs}, cacheScope ${cacheScope}`)
    return result
  }

  #receive(message: JsonObject): void {
    const { id, method, params = {} } = message
    if (typeof method !== 'string') return
    const heard = { method, params: params as JsonObject }
    const unasked = OF_SUBSCRIPTIONS.test(method) && !this.#subscriptions.has(subscriptionOf(heard.params))
    if (id !== undefined || unasked || GONE.includes(method)) this.faults.push(JSON.stringify(message))
    else this.heard.add(heard)
  }
}

const OF_SUBSCRIPTIONS = /\/list_changed$|^notifications\/(resources\/updated|subscriptions\/acknowledged)$/
const GONE = ['notifications/elicitation/complete', 'notifications/tasks/status']

function subscriptionOf({ _meta }: JsonObject): JsonValue | undefined {
  return (_meta as JsonObject | undefined)?.[`${OWN}subscriptionId`]
}

function ofSubscription(id: string | number): (params: JsonObject) => boolean {
  return (params) => subscriptionOf(params) === id
}
