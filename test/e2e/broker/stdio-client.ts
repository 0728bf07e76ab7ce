import { createInterface } from 'node:readline'
import type { JsonObject, JsonValue } from '../../../src/protocol/index.js'
import type { Program } from '../../clients/program.js'

/** A client that speaks MCP on the pipes of a program, and keeps everything that it hears. */
export class StdioClient {
  readonly program: Program
  readonly heard: JsonObject[] = []
  readonly #waiting = new Set<() => void>()
  #last = 0

  constructor(program: Program) {
    this.program = program
    createInterface({ input: program.child.stdout }).on('line', (line) => {
      this.heard.push(JSON.parse(line) as JsonObject)
      for (const look of this.#waiting) look()
    })
    program.exited.then(
      () => {
        for (const look of this.#waiting) look()
      },
      () => undefined,
    )
  }

  send(...messages: JsonObject[]): void {
    const lines = messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    this.program.child.stdin.write(lines.join(''))
  }

  /** Opens the session; gives the result of `initialize`. */
  async open(capabilities: JsonObject = {}, name = 'test'): Promise<JsonObject> {
    const params = { protocolVersion: '2025-11-25', capabilities, clientInfo: { name, version: '1' } }
    const { result } = await this.ask('initialize', params)
    this.send({ method: 'notifications/initialized' })
    return result as JsonObject
  }

  /** Sends a request; gives the whole answer. */
  ask(method: string, params: JsonObject = {}): Promise<JsonObject> {
    return this.answerTo(this.begin(method, params))
  }

  /** Sends a request without waiting; gives its id. */
  begin(method: string, params: JsonObject = {}): number {
    this.#last += 1
    this.send({ id: this.#last, method, params })
    return this.#last
  }

  /** The text of a tool's result. */
  async call(tool: string, args: JsonObject = {}): Promise<string> {
    const answer = await this.ask('tools/call', { name: tool, arguments: args })
    const content = ((answer.result as JsonObject | undefined)?.content ?? []) as JsonObject[]
    if (content[0] === undefined) throw new Error(JSON.stringify(answer))
    return String(content[0].text)
  }

  answerTo(id: JsonValue): Promise<JsonObject> {
    return this.hears((message) => message.id === id && message.method === undefined)
  }

  notified(method: string): Promise<JsonObject> {
    return this.hears((message) => message.method === method)
  }

  times(method: string): number {
    return this.heard.filter((message) => message.method === method).length
  }

  /** The first message of this sort, from the beginning on. Rejects when the program ends without it. */
  hears(wanted: (message: JsonObject) => boolean): Promise<JsonObject> {
    const { child } = this.program
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = this.heard.find(wanted)
        if (found === undefined && child.exitCode === null && child.signalCode === null) return
        this.#waiting.delete(look)
        if (found !== undefined) resolve(found)
        else reject(new Error(`the program ended with ${child.exitCode ?? child.signalCode}\n${this.program.stderr()}`))
      }
      this.#waiting.add(look)
      look()
    })
  }

  /** Leaves as clients do: by closing the pipe. */
  leave(): Program['exited'] {
    this.program.child.stdin.end()
    return this.program.exited
  }
}
