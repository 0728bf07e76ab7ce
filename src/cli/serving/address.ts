import { isIPv6 } from 'node:net'
import { UsageError } from '../usage.js'

export interface Address {
  readonly host: string
  readonly port: number
}

/** Where the gateway listens when nobody says: on the loopback, on a port that clients can keep in their configuration. */
export const DEFAULT_ADDRESS: Address = Object.freeze({ host: '127.0.0.1', port: 7411 })

/**
 * `HOST:PORT`, `[IPv6]:PORT` or `PORT`; port 0 takes a free one.
 * @throws UsageError
 */
export function addressFrom(text: string): Address {
  const [, bracketed, plain, digits = ''] = /^(?:\[([^\]]+)\]:|([^:[\]]+):)?(\d{1,5})$/.exec(text) ?? []
  const port = digits === '' ? Number.NaN : Number(digits)
  const wrongHost = bracketed !== undefined && !isIPv6(bracketed)
  if (!(port <= 65_535) || wrongHost)
    throw new UsageError(`--http takes HOST:PORT, like 127.0.0.1:7411 or [::1]:0; got '${text}'`, { place: '--http' })
  return { host: bracketed ?? plain ?? DEFAULT_ADDRESS.host, port }
}
