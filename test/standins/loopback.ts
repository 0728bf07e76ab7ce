import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

/** One request as a stand-in received it. `body` is the parsed JSON, or the text when it is none. */
export interface RecordedRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: unknown
}

export interface StandIn extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`, without a path. */
  readonly url: string
  /** Everything asked so far, in order; also what was answered with 404. */
  readonly requests: readonly RecordedRequest[]
}

/** Answers one request, or returns false for 404 with an empty object. */
export type Route = (request: RecordedRequest, response: ServerResponse) => boolean

/** Listens on a loopback port of the system's choice until disposed. */
export async function startStandIn(route: Route): Promise<StandIn> {
  const requests: RecordedRequest[] = []
  const server = createServer((incoming, response) => {
    receive(incoming).then(
      (request) => {
        requests.push(request)
        if (!route(request, response)) json(response, {}, 404)
      },
      (error: unknown) => response.destroy(error instanceof Error ? error : undefined),
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the stand-in has no port')
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

export function json(response: ServerResponse, body: unknown, status = 200): true {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  return true
}

/** Server-sent events: each with its `type` as event name where `named`, and `end` as the last data line. */
export function events(
  response: ServerResponse,
  list: readonly Readonly<Record<string, unknown>>[],
  { named = false, end }: { readonly named?: boolean; readonly end?: string } = {},
): true {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  for (const event of list) {
    response.write(`${named ? `event: ${event.type}\n` : ''}data: ${JSON.stringify(event)}\n\n`)
  }
  response.end(end === undefined ? undefined : `data: ${end}\n\n`)
  return true
}

async function receive(incoming: IncomingMessage): Promise<RecordedRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString()
  return {
    method: incoming.method ?? '',
    path: incoming.url ?? '',
    headers: incoming.headers,
    body: parse(text),
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
