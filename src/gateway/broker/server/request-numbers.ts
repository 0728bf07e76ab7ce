import { isNotification, isRequest, isResponse, type JsonObject, type JsonRpcMessage } from '../../../protocol/index.js'

/**
 * Requests of the broker to a client are numbered from 1 in each broker. A session that is carried on after its broker
 * ended has a client that may still answer the former one's: so its numbers begin elsewhere each time, and no late
 * answer meets another question.
 */
export class RequestNumbers {
  readonly #base: number

  constructor(resumed: number) {
    this.#base = (resumed % SESSIONS) * REQUESTS
  }

  outgoing(message: JsonRpcMessage): JsonRpcMessage {
    if (this.#base === 0 || isResponse(message)) return message
    if (isRequest(message)) {
      const { id, params } = message
      if (typeof id !== 'number') return message
      return { ...message, id: id + this.#base, ...(params && { params: this.#withToken(params, id) }) }
    }
    if (message.method !== 'notifications/cancelled') return message
    const requestId = message.params?.requestId
    if (typeof requestId !== 'number') return message
    return { ...message, params: { ...message.params, requestId: requestId + this.#base } }
  }

  incoming(message: JsonRpcMessage): JsonRpcMessage {
    if (this.#base === 0 || isRequest(message)) return message
    if (isNotification(message)) {
      const token = message.params?.progressToken
      if (message.method !== 'notifications/progress' || !this.#isOurs(token)) return message
      return { ...message, params: { ...message.params, progressToken: token - this.#base } }
    }
    return this.#isOurs(message.id) ? { ...message, id: message.id - this.#base } : message
  }

  /** The token under which our own request asks for progress is its number. */
  #withToken(params: JsonObject, id: number): JsonObject {
    const meta = params._meta
    if (typeof meta !== 'object' || meta === null || Array.isArray(meta) || meta.progressToken !== id) return params
    return { ...params, _meta: { ...meta, progressToken: id + this.#base } }
  }

  #isOurs(value: unknown): value is number {
    return typeof value === 'number' && value > this.#base && value <= this.#base + REQUESTS
  }
}

/** Of one session in one broker; and how many times a session is carried on before numbers come again. */
const REQUESTS = 2 ** 31
const SESSIONS = 2 ** 20
