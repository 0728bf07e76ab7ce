import { subscribe, unsubscribe } from 'node:diagnostics_channel'

/** A request that is about to leave this process by HTTP. */
export interface Departure {
  readonly method: string
  readonly path: string
  /** Every field, names in lower case. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string
}

export interface DepartureWatch {
  /** It was handed to the HTTP library, which may have to connect first. */
  handedOver(departure: Departure): void
  /** Its head is written to the socket: from here on it can't be taken back. */
  left(departure: Departure): void
}

/** Tells of every request of this process, until the function that it gives is called. */
export function watchDepartures(watch: DepartureWatch): () => void {
  const handedOver = (message: unknown) => {
    const departure = departureOf(message)
    if (departure !== undefined) watch.handedOver(departure)
  }
  const left = (message: unknown) => {
    const departure = departureOf(message)
    if (departure !== undefined) watch.left(departure)
  }
  subscribe('undici:request:create', handedOver)
  subscribe('undici:client:sendHeaders', left)
  return () => {
    unsubscribe('undici:request:create', handedOver)
    unsubscribe('undici:client:sendHeaders', left)
  }
}

function departureOf(message: unknown): Departure | undefined {
  if (typeof message !== 'object' || message === null || !('request' in message)) return
  const { request } = message
  if (typeof request !== 'object' || request === null) return
  const { method, path, body, headers } = Object.assign({ method: '', path: '', body: '', headers: [] }, request)
  return { method, path: path.replace(/\?.*$/, ''), headers: fieldsOf(headers), body: textOf(body) }
}

/** Names and values by turns. */
function fieldsOf(headers: readonly unknown[]): Departure['headers'] {
  return headers.flatMap((name, at) =>
    at % 2 === 0 ? [[String(name).toLowerCase(), String(headers[at + 1])] as const] : [],
  )
}

function textOf(body: unknown): string {
  if (typeof body === 'string') return body
  return body instanceof Uint8Array ? Buffer.from(body).toString() : ''
}
