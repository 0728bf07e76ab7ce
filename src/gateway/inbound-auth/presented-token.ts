import type { IncomingMessage } from 'node:http'

/** What a request shows for itself. */
export type Presented =
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'nothing' }
  /** 400: nobody may have to guess which of two tokens counts (RFC 6750, 2 and 3.1). */
  | { readonly kind: 'malformed'; readonly why: string }
  /** 401: it can be no token of ours. */
  | { readonly kind: 'invalid' }

/** Characters; tokens with many groups have some thousand. Headers altogether have 16 KiB. */
const LONGEST = 12 * 1024
/** RFC 6750, 2.1. */
const BEARER = /^Bearer +([A-Za-z0-9\-._~+/]+=*) *$/i

/**
 * The bearer token of a request: in its one `Authorization` header and nowhere else. A token in the query ends up in logs
 * and is refused wherever else one stands (MCP authorization, token requirements).
 */
export function presentedToken({ rawHeaders, url = '' }: Pick<IncomingMessage, 'rawHeaders' | 'url'>): Presented {
  if (tokenInQuery(url)) return { kind: 'malformed', why: 'a token has no place in the query' }
  const values = rawHeaders.filter((_, index) => index % 2 === 1 && isAuthorization(rawHeaders[index - 1]))
  const [value, second] = values
  if (second !== undefined) return { kind: 'malformed', why: 'Authorization is there more than once' }
  if (value === undefined || value.trim() === '') return { kind: 'nothing' }
  if (!/^Bearer( |$)/i.test(value)) return { kind: 'nothing' }
  const token = BEARER.exec(value)?.[1]
  return token === undefined || token.length > LONGEST ? { kind: 'invalid' } : { kind: 'token', token }
}

function isAuthorization(name: string | undefined): boolean {
  return name?.toLowerCase() === 'authorization'
}

function tokenInQuery(url: string): boolean {
  const query = url.indexOf('?')
  return query !== -1 && new URLSearchParams(url.slice(query + 1)).has('access_token')
}
