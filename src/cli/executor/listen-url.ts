import { isIP } from 'node:net'
import { UsageError } from '../usage.js'

export type ListenPlace =
  | { readonly kind: 'stdio' }
  | { readonly kind: 'websocket'; readonly host: string; readonly port: number }

/**
 * `stdio`, `stdio://`, or `ws://IP:PORT` without a path; names are not resolved (reference: executor-protocol, 2.1).
 * @throws UsageError
 */
export function listenOn(text: string): ListenPlace {
  if (text === 'stdio' || text === 'stdio://') return { kind: 'stdio' }
  const [, bracketed, plain, port] = /^ws:\/\/(?:\[([0-9a-f:.]+)\]|([0-9.]+)):(\d{1,5})$/i.exec(text) ?? []
  const host = bracketed ?? plain ?? ''
  const family = bracketed === undefined ? 4 : 6
  if (isIP(host) !== family || Number(port) > 65_535)
    throw new UsageError("--listen takes ws://IP:PORT, like ws://127.0.0.1:0 or ws://[::1]:0, or 'stdio'", {
      place: '--listen',
    })
  return { kind: 'websocket', host, port: Number(port) }
}
