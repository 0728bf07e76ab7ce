import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { WebSocket } from 'ws'

type Members = Readonly<Record<string, unknown>>

/** What came from the executor, as it was on the wire. */
export interface Message {
  readonly id?: string | number
  readonly method?: string
  readonly params?: Members
  readonly result?: Members
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Members }
}

/** A raw client of an executor: no client library of ours between the test and the wire. */
export interface ExecutorClient extends AsyncDisposable {
  readonly socket: WebSocket
  /** Everything that came, in order. */
  readonly received: readonly Message[]
  /** Resolves with the first message, come or to come, that fits. Rejects when the socket ends first. */
  until(fits: (message: Message) => boolean): Promise<Message>
  /** Resolves when the condition holds, looked at once a message. Rejects when the socket ends first. */
  when(holds: () => boolean): Promise<void>
  send(message: object | string): void
  /** Sends a request and resolves with its answer, an error included. */
  ask(method: string, params?: object): Promise<Message>
  /** The handshake; the session's id. */
  greet(resumeSessionId?: string): Promise<string>
  /** Resolves with the close code. */
  readonly closed: Promise<number>
  /** Ends the socket without a word. */
  drop(): Promise<void>
}

export async function connectExecutor(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<ExecutorClient> {
  const socket = new WebSocket(url, { perMessageDeflate: false, headers })
  const received: Message[] = []
  const looks = new Set<() => void>()
  let over = false
  const look = () => {
    for (const one of [...looks]) one()
  }
  socket.on('message', (data) => {
    received.push(JSON.parse(String(data)))
    look()
  })
  socket.on('error', () => {})
  const closed = new Promise<number>((resolve) => {
    socket.on('close', (code) => {
      over = true
      look()
      resolve(code)
    })
  })
  await once(socket, 'open')

  const when: ExecutorClient['when'] = (holds) =>
    new Promise((resolve, reject) => {
      const one = () => {
        const done = holds()
        if (!done && !over) return
        looks.delete(one)
        if (done) resolve()
        else reject(new Error(`the socket ended before; received: ${JSON.stringify(received).slice(0, 2000)}`))
      }
      looks.add(one)
      one()
    })
  const until: ExecutorClient['until'] = async (fits) => {
    let [looked, found]: [number, Message | undefined] = [0, undefined]
    await when(() => {
      for (; found === undefined && looked < received.length; looked += 1) {
        const message = received[looked]
        if (message !== undefined && fits(message)) found = message
      }
      return found !== undefined
    })
    if (found === undefined) throw new Error('nothing was found')
    return found
  }
  const send: ExecutorClient['send'] = (message) =>
    socket.send(typeof message === 'string' ? message : JSON.stringify(message))
  let lastId = 1000
  const ask: ExecutorClient['ask'] = (method, params) => {
    lastId += 1
    const id = lastId
    send({ id, method, ...(params && { params }) })
    return until((message) => message.id === id)
  }
  const drop = async () => {
    socket.terminate()
    await closed
  }
  return {
    socket,
    received,
    until,
    when,
    send,
    ask,
    async greet(resumeSessionId) {
      const answer = await ask('initialize', { clientName: 'test', ...(resumeSessionId && { resumeSessionId }) })
      send({ method: 'initialized', params: {} })
      return String(answer.result?.sessionId)
    },
    closed,
    drop,
    [Symbol.asyncDispose]: drop,
  }
}

/** Parameters of `process/start` for a Node script. */
export function nodeProcess(processId: string, script: string, changes: object = {}): object {
  return {
    processId,
    argv: [process.execPath, '-e', script],
    cwd: 'file:///',
    env: { PATH: process.env.PATH ?? '' },
    tty: false,
    pipeStdin: true,
    ...changes,
  }
}

/** The text of one stream of a process, as told so far, in the order of the numbers. */
export function outputOf({ received }: ExecutorClient, processId: string, stream = 'stdout'): string {
  const chunks = received
    .filter(({ method, params }) => method === 'process/output' && params?.processId === processId)
    .filter(({ params }) => params?.stream === stream)
    .sort((a, b) => Number(a.params?.seq) - Number(b.params?.seq))
  return Buffer.concat(chunks.map(({ params }) => Buffer.from(String(params?.chunk), 'base64'))).toString()
}

/** A notification of one process. */
export function event(method: string, processId: string): (message: Message) => boolean {
  return (message) => message.method === method && message.params?.processId === processId
}

/** Resolves when no process of this number runs any more. */
export async function ended(pid: number): Promise<void> {
  while (runs(pid)) await pause(20)
}

export function runs(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
