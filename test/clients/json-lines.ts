import { createInterface } from 'node:readline'
import type { Program } from './program.js'

type Members = Readonly<Record<string, unknown>>

/** A raw peer that speaks JSON-RPC lines with a program: no client library between the test and the wire. */
export interface JsonLines {
  /** The result; a JSON-RPC error, or the end of the program, rejects. */
  request(method: string, params: Members): Promise<Members>
  notify(method: string, params?: Members): void
  /** The params of the next notification of this method, or of one that came before and was not taken yet. */
  notification(method: string): Promise<Members>
}

export interface JsonLinesOptions {
  /** Written into every frame; `app-server` of Codex leaves it out. */
  readonly jsonrpc?: '2.0'
  /** Answers what the program asks; it gets the params and returns the result. */
  readonly answer?: (method: string, params: Members) => Members
}

export function speakJsonLines(program: Program, { jsonrpc, answer }: JsonLinesOptions = {}): JsonLines {
  const pending = new Map<number, (outcome: Members | Error) => void>()
  const arrived = new Map<string, Members[]>()
  const awaited = new Map<string, ((outcome: Members | Error) => void)[]>()
  let ended: Error | undefined
  let lastId = 0

  const write = (frame: Members) =>
    program.child.stdin.write(`${JSON.stringify({ ...(jsonrpc && { jsonrpc }), ...frame })}\n`)
  const settled = (register: (settle: (outcome: Members | Error) => void) => void) =>
    new Promise<Members>((resolve, reject) => {
      if (ended) return reject(ended)
      register((outcome) => (outcome instanceof Error ? reject(outcome) : resolve(outcome)))
    })

  createInterface({ input: program.child.stdout }).on('line', (line) => {
    const frame: Members = JSON.parse(line)
    const { id, method } = frame
    if (typeof method === 'string') {
      const params = membersOf(frame.params)
      if (id !== undefined) return void write({ id, result: answer?.(method, params) ?? {} })
      const waiting = awaited.get(method)?.shift()
      if (waiting) waiting(params)
      else arrived.set(method, [...(arrived.get(method) ?? []), params])
    } else if (typeof id === 'number') {
      const { result, error } = frame
      pending.get(id)?.(error === undefined ? membersOf(result) : new Error(JSON.stringify(error)))
      pending.delete(id)
    }
  })
  void program.exited.finally(() => {
    ended = new Error(`the program ended\n${program.stderr()}`)
    for (const settle of [...pending.values(), ...[...awaited.values()].flat()]) settle(ended)
  })

  return {
    request: (method, params) =>
      settled((settle) => {
        lastId += 1
        pending.set(lastId, settle)
        write({ id: lastId, method, params })
      }),
    notify: (method, params) => void write({ method, ...(params && { params }) }),
    notification: (method) => {
      const earlier = arrived.get(method)?.shift()
      if (earlier) return Promise.resolve(earlier)
      return settled((settle) => awaited.set(method, [...(awaited.get(method) ?? []), settle]))
    },
  }
}

function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
