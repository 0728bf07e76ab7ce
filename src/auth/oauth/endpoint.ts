import { OAuthError } from '../../errors.js'
import { placeOf } from './http.js'

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

export function isLoopback(hostname: string): boolean {
  return LOOPBACK.has(hostname)
}

/**
 * A URL that secrets may be sent to, or a browser be led to: https, or http on this machine; nothing that a shell or a
 * browser would run. Given back as it was published.
 *
 * @throws OAuthError `oauth_insecure_endpoint`
 */
export function endpoint(text: string, what: string): string {
  const refuse = (why: string) =>
    new OAuthError('oauth_insecure_endpoint', `the ${what} ${why}`, { place: placeOf(text) })
  if (!URL.canParse(text)) throw refuse('is no URL')
  const url = new URL(text)
  const isPlain = url.protocol === 'http:' && isLoopback(url.hostname)
  if (url.protocol !== 'https:' && !isPlain) throw refuse('is neither https nor on this machine')
  if (url.username !== '' || url.password !== '') throw refuse('holds a user name or password')
  return text
}

/** The server's URL as credentials are filed under it. Undefined for what is no HTTP URL. */
export function credentialUrl(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined
  url.hash = ''
  return url.href
}
