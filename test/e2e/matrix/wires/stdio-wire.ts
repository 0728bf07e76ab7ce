import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import type { JsonObject, JsonRpcRequest, RequestId } from '../../../../src/protocol/index.js'
import { cancellation, isAnswerTo, TakenBackError, type Wire } from './wire.js'

interface Waiting {
  readonly resolve: (answer: JsonObject) => void
  readonly reject: (error: Error) => void
}

/** One message a line, as on the pipes of a process. */
export class StdioWire implements Wire {
  onmessage: (message: JsonObject) => void = () => undefined
  /** What the gateway reads and writes. */
  readonly gatewaySide: { readonly input: PassThrough; readonly output: PassThrough }
  readonly #input = new PassThrough()
  readonly #output = new PassThrough()
  readonly #waiting = new Map<RequestId, Waiting>()

  constructor() {
    this.gatewaySide = { input: this.#input, output: this.#output }
    createInterface({ input: this.#output, crlfDelay: Number.POSITIVE_INFINITY })
      .on('line', (line) => this.#receive(JSON.parse(line) as JsonObject))
      .once('close', () => this.#end())
  }

  request(request: JsonRpcRequest): Promise<JsonObject> {
    const answer = new Promise<JsonObject>((resolve, reject) => this.#waiting.set(request.id, { resolve, reject }))
    this.#write({ ...request })
    return answer
  }

  async send(message: JsonObject): Promise<void> {
    this.#write(message)
  }

  async cancel(id: RequestId): Promise<void> {
    this.#write(cancellation(id))
    this.#take(id)?.reject(new TakenBackError())
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#input.end()
  }

  #receive(message: JsonObject): void {
    const { id } = message
    if ((typeof id === 'string' || typeof id === 'number') && isAnswerTo(id, message)) this.#take(id)?.resolve(message)
    else this.onmessage(message)
  }

  #take(id: RequestId): Waiting | undefined {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    return waiting
  }

  #end(): void {
    for (const { reject } of this.#waiting.values()) reject(new Error('the gateway closed its output'))
    this.#waiting.clear()
  }

  #write(message: JsonObject): void {
    this.#input.write(`${JSON.stringify(message)}\n`)
  }
}
