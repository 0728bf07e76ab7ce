import type { HttpResponse } from '../../environments/index.js'
import { HttpStatusError } from '../../errors.js'
import { LIMITS } from '../../protocol/index.js'
import { mediaType } from './media-type.js'
import type { Performed } from './operations.js'
import { type BodyPrefix, readPrefix } from './read-body.js'
import { redactedPrefix } from './redaction.js'
import type { Timers } from './timers.js'

/** A little more than is shown, so that a secret across the cut is seen whole. */
const READ_FOR_PREVIEW = LIMITS.errorPreview + 4096

/** `HTTP <status>: <preview>`; reads what it needs of the body and frees the connection. */
export async function statusError(performed: Performed, timers: Timers, signal: AbortSignal): Promise<HttpStatusError> {
  return statusErrorOf(performed, await readPrefix(performed.response, READ_FOR_PREVIEW, timers, signal))
}

export function statusErrorOf(performed: Performed, prefix: BodyPrefix): HttpStatusError {
  const { response, place } = performed
  return new HttpStatusError(response.status, `HTTP ${response.status}: ${preview(prefix, performed)}`, {
    place,
    data: facts(response),
  })
}

/** A 2xx that is neither JSON nor an event stream, e.g. a login page. */
export async function contentTypeError(
  performed: Performed,
  timers: Timers,
  signal: AbortSignal,
): Promise<HttpStatusError> {
  const { response, place } = performed
  const type = mediaType(response.header('content-type')) ?? 'missing-content-type'
  const prefix = await readPrefix(response, READ_FOR_PREVIEW, timers, signal)
  const text = `unexpected content type '${type.slice(0, 100)}' (HTTP ${response.status}): ${preview(prefix, performed)}`
  return new HttpStatusError(response.status, text, { place, data: facts(response) })
}

export function preview(prefix: BodyPrefix, performed: Performed): string {
  const { text, dropped } = redactedPrefix(prefix.bytes, LIMITS.errorPreview, performed.secrets)
  const shown = text === '' ? '(no text)' : text
  const missing = dropped + prefix.atLeast - prefix.bytes.length
  if (prefix.complete) return missing === 0 ? shown : `${shown} [truncated, ${missing} bytes dropped]`
  return missing === 0 ? `${shown} [incomplete]` : `${shown} [truncated, at least ${missing} bytes dropped]`
}

function facts(response: HttpResponse): Record<string, unknown> {
  const contentType = mediaType(response.header('content-type'))
  const retryAfter = response.header('retry-after')
  return {
    status: response.status,
    ...(contentType !== undefined && { contentType }),
    ...(retryAfter !== undefined && { retryAfter: retryAfter.slice(0, 100) }),
  }
}
