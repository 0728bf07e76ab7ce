import { FirstPartyAuthError } from '../errors.js'
import type { ServerKey } from '../identity/index.js'

/** An operation that first-party auth refused, in the words and with the key of its server (reference: runtime-auth, 2.4). */
export function refusedOperation(error: FirstPartyAuthError, key: ServerKey): FirstPartyAuthError {
  const { code, message, mayRetry, transient, place, data } = error
  // What ended in flight says so itself.
  const told = code === 'auth_revoked' ? message : `Client error: ${kindOf(error)}: ${message}`
  return new FirstPartyAuthError(code, told, {
    key,
    mayRetry,
    transient,
    cause: error,
    ...(place !== undefined && { place }),
    ...(data && { data }),
  })
}

/** The refusal itself, without the operation that it kept from being sent. */
export function refusalText(error: FirstPartyAuthError): string {
  return error.cause instanceof FirstPartyAuthError ? error.cause.message : error.message
}

function kindOf({ code, data }: FirstPartyAuthError): string {
  if (code !== 'registration_failed') return 'request auth build error'
  const isPassing = typeof data?.status === 'number' ? data.status >= 500 : data?.transport === true
  return isPassing ? 'transient auth error' : 'request auth build error'
}
