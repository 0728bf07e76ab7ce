import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import { createParser } from 'eventsource-parser'
import type { JsonObject } from '../../../../src/protocol/index.js'

export interface Exchange {
  readonly url: string
  readonly method: 'POST' | 'GET' | 'DELETE'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: JsonObject
  readonly signal: AbortSignal
  /** Takes each message as it comes, from an event stream or a plain answer. */
  readonly onMessage: (message: JsonObject) => void
  readonly onHead?: (head: Head) => void
}

export interface Head {
  readonly status: number
  readonly headers: IncomingHttpHeaders
}

/** One HTTP request to the end of its response. Rejects when it was aborted. */
export function exchange({ url, method, headers, body, signal, onMessage, onHead }: Exchange): Promise<Head> {
  const { hostname, port, pathname } = new URL(url)
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: hostname, port, path: pathname, method, headers, agent: false, signal })
    const fail = (error: Error) => reject(signal.aborted ? signal.reason : error)
    outgoing.once('error', fail)
    outgoing.once('response', (response) => {
      const head = { status: response.statusCode ?? 0, headers: response.headers }
      onHead?.(head)
      response.once('error', fail)
      response.once('close', () => (signal.aborted ? reject(signal.reason) : resolve(head)))
      read(response, onMessage)
    })
    outgoing.end(body === undefined ? undefined : JSON.stringify(body))
  })
}

function read(response: IncomingMessage, onMessage: (message: JsonObject) => void): void {
  const type = String(response.headers['content-type'])
  response.setEncoding('utf8')
  if (type.startsWith('text/event-stream')) {
    const parser = createParser({ onEvent: ({ data }) => data !== '' && onMessage(JSON.parse(data) as JsonObject) })
    response.on('data', (text: string) => parser.feed(text))
    return
  }
  let whole = ''
  response.on('data', (text: string) => {
    whole += text
  })
  response.once('end', () => type.startsWith('application/json') && onMessage(JSON.parse(whole) as JsonObject))
}
