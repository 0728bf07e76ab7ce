import { BlockList, isIP, isIPv6 } from 'node:net'
import { ConfigError } from '../../errors.js'
import { parseUrl } from './place.js'

export type ProxyVariables = Readonly<Record<string, string | undefined>>

/** Where a request goes first. The address has no user info: that is in `authorization`. */
export interface ProxyRoute {
  readonly url: string
  readonly authorization?: string
}

/**
 * Which proxy `url` goes through; undefined for a direct connection.
 *
 * `HTTPS_PROXY` serves https URLs and `HTTP_PROXY` http ones, the lower-case spelling first. `NO_PROXY` is a list of
 * hosts (with their subdomains), `host:port`, CIDR blocks, or `*`. The loopback is never proxied, unless `NO_PROXY` holds
 * Chromium's `<-loopback>`.
 *
 * Throws `ConfigError` (`invalid_proxy`) naming the variable, never its value: it may hold a password.
 */
export function proxyFor(url: URL, env: ProxyVariables): ProxyRoute | undefined {
  const names = url.protocol === 'https:' ? ['https_proxy', 'HTTPS_PROXY'] : ['http_proxy', 'HTTP_PROXY']
  const name = names.find((candidate) => env[candidate]?.trim())
  if (name === undefined) return undefined
  const exceptions = (env.no_proxy ?? env.NO_PROXY ?? '').split(/[\s,]+/).filter((entry) => entry !== '')
  if (isLoopback(url.hostname) && !exceptions.includes('<-loopback>')) return undefined
  if (exceptions.some((entry) => excepts(entry, url))) return undefined
  return readProxy(name, env[name] ?? '')
}

/** `localhost`, its subdomains, 127.0.0.0/8 and ::1, as URLs write them. */
export function isLoopback(hostname: string): boolean {
  const host = bare(hostname)
  if (host === 'localhost' || host.endsWith('.localhost')) return true
  const family = isIP(host)
  return family !== 0 && LOOPBACK.check(host, family === 6 ? 'ipv6' : 'ipv4')
}

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('::1', 'ipv6')

const SCHEMES = ['http:', 'https:', 'socks5:', 'socks:']

function readProxy(name: string, value: string): ProxyRoute {
  const text = value.trim()
  const url = parseUrl(text.includes('://') ? text : `http://${text}`)
  if (url === undefined || url.hostname === '' || !SCHEMES.includes(url.protocol)) {
    throw new ConfigError('invalid_proxy', `the environment variable ${name} holds no usable proxy address`, {
      place: name,
    })
  }
  const { username, password } = url
  const address = `${url.protocol}//${url.host}`
  if (username === '' && password === '') return { url: address }
  const credentials = `${decode(username)}:${decode(password)}`
  return { url: address, authorization: `Basic ${Buffer.from(credentials).toString('base64')}` }
}

function excepts(entry: string, url: URL): boolean {
  if (entry === '*') return true
  const host = bare(url.hostname)
  const block = /^(.+)\/(\d{1,3})$/.exec(entry)
  if (block !== null) return inBlock(host, block[1] ?? '', Number(block[2]))
  const { name, port } = splitPort(entry)
  if (port !== undefined && port !== (url.port || (url.protocol === 'https:' ? '443' : '80'))) return false
  return host === name || host.endsWith(`.${name}`)
}

function splitPort(entry: string): { name: string; port?: string } {
  const [, name = entry, port] = isIPv6(entry) ? [] : (/^(.+):(\d+)$/.exec(entry) ?? [])
  return { name: bare(name.replace(/^\*?\./, '')), ...(port !== undefined && { port }) }
}

function inBlock(host: string, network: string, bits: number): boolean {
  const family = isIP(bare(network))
  if (family === 0 || isIP(host) !== family || bits > (family === 6 ? 128 : 32)) return false
  const list = new BlockList()
  const type = family === 6 ? 'ipv6' : 'ipv4'
  list.addSubnet(bare(network), bits, type)
  return list.check(host, type)
}

function bare(hostname: string): string {
  return hostname
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
