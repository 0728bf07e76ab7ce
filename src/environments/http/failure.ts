import { InvalidArgumentsError, ReeveError, TransportClosedError } from '../../errors.js'
import { placeOf } from './place.js'

/** `data.reason` of a failed exchange. */
export type ConnectionFault =
  | 'refused'
  | 'dns'
  | 'tls'
  | 'timeout'
  | 'unreachable'
  | 'proxy'
  | 'reset'
  | 'not_http'
  | 'closed'
  | 'other'

/**
 * Turns what the HTTP library reports into a `TransportClosedError`. `sent` is false when no byte of the request left:
 * the connection was refused, the name unknown, TLS or the proxy failed, or the request was still waiting for one.
 * `data` holds `{sent, reason, errno?}`.
 */
export function connectionFailed(error: unknown, url: string, sent: boolean): ReeveError {
  if (error instanceof ReeveError) return error
  const errno = errnoOf(error)
  const place = placeOf(url)
  if (errno === 'UND_ERR_INVALID_ARG' || errno === 'UND_ERR_NOT_SUPPORTED') {
    return new InvalidArgumentsError(`the request to ${place} cannot be sent: ${textOf(error)}`, {
      place,
      cause: error,
    })
  }
  const reason = reasonOf(errno, error)
  const verb = sent ? 'lost the connection to' : 'cannot connect to'
  return new TransportClosedError(`${verb} ${place}: ${describe(reason, errno, error)}`, {
    sent,
    place,
    cause: error,
    data: { sent, reason, ...(errno !== undefined && { errno }) },
  })
}

const REASONS: Readonly<Record<string, ConnectionFault>> = {
  ECONNREFUSED: 'refused',
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
  EAI_FAIL: 'dns',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
  UND_ERR_DESTROYED: 'closed',
  UND_ERR_CLOSED: 'closed',
  UND_ERR_HEADERS_OVERFLOW: 'not_http',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'not_http',
}

function reasonOf(errno: string | undefined, error: unknown): ConnectionFault {
  if (/proxy/i.test(textOf(error)) || errno === 'UND_ERR_PRX_TLS') return 'proxy'
  if (error instanceof Error && error.name === 'HTTPParserError') return 'not_http'
  if (errno === undefined) return 'other'
  if (TLS.test(errno)) return 'tls'
  return Object.hasOwn(REASONS, errno) ? (REASONS[errno] ?? 'other') : 'other'
}

const TLS = /^(?:CERT_|ERR_TLS_|ERR_SSL_|EPROTO$|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH)/

const TEXTS: Readonly<Partial<Record<ConnectionFault, string>>> = {
  refused: 'connection refused',
  dns: 'the host name cannot be resolved',
  timeout: 'no connection in time',
  unreachable: 'host or network unreachable',
  reset: 'the other side closed it',
  closed: 'the client is closed',
}

function describe(reason: ConnectionFault, errno: string | undefined, error: unknown): string {
  const text = TEXTS[reason] ?? textOf(error)
  return errno === undefined ? text : `${text} (${errno})`
}

/** Several addresses were tried: the first one's code stands for all. */
function errnoOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  if ('code' in error && typeof error.code === 'string') return error.code
  if (error instanceof AggregateError) return errnoOf(error.errors[0])
  return undefined
}

function textOf(error: unknown): string {
  return error instanceof Error && error.message !== '' ? error.message : 'unknown fault'
}
