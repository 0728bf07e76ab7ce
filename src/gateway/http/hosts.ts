import { isIP } from 'node:net'

/** True for names and addresses that only this machine answers to. Brackets round IPv6 are accepted. */
export function isLoopback(hostname: string): boolean {
  const name = unbracket(hostname).toLowerCase()
  if (name === 'localhost' || name.endsWith('.localhost')) return true
  if (isIP(name) === 4) return name.startsWith('127.')
  return name === '::1' || name.startsWith('::ffff:127.')
}

export interface HostRules {
  /** Further host names, without port. */
  readonly allowedHosts: readonly string[]
  /** Further origins, e.g. `https://inspector.example`. */
  readonly allowedOrigins: readonly string[]
}

/**
 * Whether a `Host` header names this gateway: a loopback name, a configured one, or the very address that the connection
 * came in on. A page that rebinds its own domain to this address sends its domain, and is refused.
 */
export function hostAllowed(host: string | undefined, localAddress: string | undefined, rules: HostRules): boolean {
  const name = hostname(`http://${host ?? ''}`)
  if (name === undefined) return false
  if (isLoopback(name)) return true
  if (localAddress !== undefined && sameAddress(name, localAddress)) return true
  return rules.allowedHosts.some((allowed) => unbracket(allowed).toLowerCase() === unbracket(name))
}

/** Whether a browser page of this origin may talk to the gateway. Clients that are no browser send none. */
export function originAllowed(origin: string | undefined, rules: HostRules): boolean {
  if (origin === undefined) return true
  if (rules.allowedOrigins.includes(origin)) return true
  const name = /^https?:\/\//.test(origin) ? hostname(origin) : undefined
  return name !== undefined && isLoopback(name)
}

function hostname(url: string): string | undefined {
  try {
    const parsed = new URL(url)
    const plain = parsed.username === '' && parsed.password === '' && parsed.pathname === '/' && parsed.search === ''
    return plain && parsed.hash === '' ? parsed.hostname : undefined
  } catch {
    return undefined
  }
}

function sameAddress(name: string, address: string): boolean {
  const bare = unbracket(name)
  return isIP(bare) !== 0 && (bare === address || `::ffff:${bare}` === address)
}

function unbracket(name: string): string {
  return name.startsWith('[') && name.endsWith(']') ? name.slice(1, -1) : name
}
