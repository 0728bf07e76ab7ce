import type { JsonObject, JsonRpcRequest, RequestId } from '../../../../src/protocol/index.js'

/** What carries the messages of one client. Nothing is taken from them and nothing added. */
export interface Wire extends AsyncDisposable {
  /** Takes everything but the answers to this side's requests. */
  onmessage: (message: JsonObject) => void
  /** Resolves with the answer, a result or an error. Rejects when the request was cancelled or the wire broke. */
  request(request: JsonRpcRequest): Promise<JsonObject>
  /** Sends a notification or an answer. */
  send(message: JsonObject): Promise<void>
  /** Takes a request back as this transport and era have it. */
  cancel(id: RequestId): Promise<void>
}

/** What `request` rejects with after `cancel`. */
export class TakenBackError extends Error {
  constructor() {
    super('the request was taken back')
  }
}

export function cancellation(requestId: RequestId): JsonObject {
  return {
    jsonrpc: '2.0',
    method: 'notifications/cancelled',
    params: { requestId, reason: 'the user changed its mind' },
  }
}

export function isAnswerTo(id: RequestId, message: JsonObject): boolean {
  return message.id === id && !Object.hasOwn(message, 'method')
}
