import { createInterface } from 'node:readline'
import type { Program } from './program.js'

type Members = Readonly<Record<string, unknown>>

/** A raw peer that speaks JSON-RPC lines with a program: no client library between the test and the wire. */
export interface JsonLines {
  /** The result; a JSON-RPC error, or the end of the program, rejects. */
  request(method: string, params: Members): Promise<Members>
  notify(method: string): void
}

/** `jsonrpc` is written into every frame; `app-server` of Codex leaves it out. What the program asks is refused. */
export function speakJsonLines(program: Program, { jsonrpc }: { readonly jsonrpc?: '2.0' } = {}): JsonLines {
  const pending = new Map<number, (outcome: Members | Error) => void>()
  let ended: Error | undefined
  let lastId = 0

  const write = (frame: Members) =>
    void program.child.stdin.write(`${JSON.stringify({ ...(jsonrpc && { jsonrpc }), ...frame })}\n`)

  createInterface({ input: program.child.stdout }).on('line', (line) => {
    const { id, method, result, error }: Members = JSON.parse(line)
    if (method !== undefined) {
      if (id !== undefined) write({ id, error: { code: -32601, message: `no method '${method}'` } })
    } else if (typeof id === 'number') {
      pending.get(id)?.(error === undefined ? membersOf(result) : new Error(JSON.stringify(error)))
      pending.delete(id)
    }
  })
  const end = () => {
    ended = new Error(`the program ended\n${program.stderr()}`)
    for (const settle of pending.values()) settle(ended)
  }
  void program.exited.then(end, end)

  return {
    request: (method, params) =>
      new Promise((resolve, reject) => {
        if (ended) return reject(ended)
        lastId += 1
        pending.set(lastId, (outcome) => (outcome instanceof Error ? reject(outcome) : resolve(outcome)))
        write({ id: lastId, method, params })
      }),
    notify: (method) => write({ method }),
  }
}

function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
