import { maskUrl } from '../mask.js'
import { shortened } from '../source/raw.js'

/** What is wrong with an id or a URL, in the reference's words. */
export interface RuleFault {
  readonly code: string
  readonly message: string
}

/** Ids that no environment may have: the host's own, and the word for no environment. */
const RESERVED = /^(?:local|[Nn][Oo][Nn][Ee])$/
const LONGEST_ID = 64

/**
 * Whether an environment may have this id (reference: catalog, 8.1). One rule for files, command line and API
 * (reference: known-quirks, 43).
 */
export function environmentIdFault(id: string): RuleFault | undefined {
  if (id.trim() === '') return { code: 'empty', message: 'environment id cannot be empty' }
  const named = `environment id \`${shortened(id)}\``
  if (id.trim() !== id) return { code: 'padded_id', message: `${named} must not contain surrounding whitespace` }
  if (RESERVED.test(id)) return { code: 'reserved_id', message: `${named} is reserved` }
  if ([...id].length > LONGEST_ID)
    return { code: 'id_too_long', message: `${named} cannot be longer than ${LONGEST_ID} characters` }
  if (/^[A-Za-z0-9_-]+$/.test(id)) return undefined
  return { code: 'id_charset', message: `${named} must contain only ASCII letters, numbers, '-' or '_'` }
}

/** Whether an executor can be reached at this URL. Space around it does not count. The text shows no secret. */
export function environmentUrlFault(url: string, facts: { readonly hasToken?: boolean } = {}): RuleFault | undefined {
  const trimmed = url.trim()
  if (trimmed === '') return { code: 'empty', message: 'environment url cannot be empty' }
  const named = `environment url \`${shortened(maskUrl(trimmed), 200)}\``
  if (!/^wss?:\/\//i.test(trimmed)) return { code: 'url_scheme', message: `${named} must use ws:// or wss://` }
  if (/^wss?:\/\/$/i.test(trimmed))
    return { code: 'url_invalid', message: `${named} is invalid: HTTP format error: empty string` }
  if (!URL.canParse(trimmed)) return { code: 'url_invalid', message: `${named} is invalid` }
  const { protocol, hostname, username, password } = new URL(trimmed)
  if (username !== '' || password !== '')
    return { code: 'url_credentials', message: `${named} must not hold credentials: use auth_bearer_token_env_var` }
  if (facts.hasToken && protocol !== 'wss:' && !isLoopback(hostname))
    return { code: 'insecure_token', message: `${named} must use wss:// for a bearer token to another machine` }
  return undefined
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host)
}
