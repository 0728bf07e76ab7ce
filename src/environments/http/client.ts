import type { buildConnector, Dispatcher, Pool } from 'undici'
import { ClosedError, InvalidArgumentsError } from '../../errors.js'
import type { HttpClient, HttpRequest, HttpResponse } from '../environment.js'
import { Exchange } from './exchange.js'
import { parseUrl } from './place.js'
import type { ProxyRoute, ProxyVariables } from './proxy.js'

export interface HttpClientOptions {
  /** Read for `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` at every request. */
  readonly env: ProxyVariables
  /** PEM certificates trusted beside Node's own. */
  readonly ca?: readonly string[]
  /**
   * Connections per origin; no limit by default. With a limit, an answer to a server's question may have to wait behind
   * the very calls that wait for it.
   */
  readonly maxConnections?: number
  /** Connects elsewhere than the URL says, where no proxy is in between. TLS still checks the URL's name. */
  readonly route?: HttpRoute
}

export type HttpRoute = (host: string, port: number) => { readonly host: string; readonly port: number } | undefined

/**
 * The host's HTTP client: keep-alive connections per origin, proxies from the environment, no redirects, no time limits
 * of its own but 10 s to connect (deadlines are the caller's, through `signal`). The HTTP library is loaded by the first
 * request: its 75 ms must not slow a command that sends none.
 *
 * `request` rejects with `TransportClosedError` (`sent` says whether the request may have arrived, `data.reason` why),
 * `CancelledError`, `InvalidArgumentsError`, `ConfigError` (an unusable proxy variable) or `ClosedError`.
 */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  return new UndiciClient(options)
}

type Library = Awaited<ReturnType<typeof loadLibrary>>

/** Everything that costs time to load. */
async function loadLibrary(ca: readonly string[] | undefined) {
  // By its default export: a bundler that splits a CommonJS package into a chunk keeps no named ones.
  const [{ default: undici }, { proxyFor }] = await Promise.all([import('undici'), import('./proxy.js')])
  const { Agent, Pool, ProxyAgent, buildConnector } = undici
  const tls = ca === undefined ? {} : { ca: [...(await import('node:tls')).rootCertificates, ...ca] }
  return { Agent, Pool, ProxyAgent, buildConnector, proxyFor, tls }
}

class UndiciClient implements HttpClient {
  readonly #options: HttpClientOptions
  /** By proxy address and credentials; the direct one under ''. */
  readonly #dispatchers = new Map<string, Dispatcher>()
  #library: Promise<Library> | undefined
  #closed = false

  constructor(options: HttpClientOptions) {
    this.#options = options
  }

  async request(request: HttpRequest): Promise<HttpResponse> {
    const url = parseUrl(request.url)
    if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
      throw new InvalidArgumentsError('the request has no http or https URL')
    }
    this.#library ??= loadLibrary(this.#options.ca)
    const library = await this.#library
    const proxy = library.proxyFor(url, this.#options.env)
    if (this.#closed) throw new ClosedError('the HTTP client')
    const exchange = new Exchange(request)
    if (!exchange.ended) this.#dispatch(this.#dispatcher(library, proxy), url, request, exchange)
    return exchange.response
  }

  async close(): Promise<void> {
    this.#closed = true
    const open = [...this.#dispatchers.values()]
    this.#dispatchers.clear()
    await Promise.all(open.map((dispatcher) => dispatcher.destroy()))
  }

  #dispatch(dispatcher: Dispatcher, url: URL, request: HttpRequest, exchange: Exchange): void {
    try {
      dispatcher.dispatch(
        {
          origin: url.origin,
          path: `${url.pathname}${url.search}`,
          method: request.method,
          headers: request.headers.flatMap(([name, value]) => [name, onTheWire(value)]),
          body: request.body ?? null,
        },
        exchange,
      )
    } catch (error) {
      exchange.fail(error)
    }
  }

  #dispatcher(library: Library, proxy: ProxyRoute | undefined): Dispatcher {
    const name = proxy === undefined ? '' : `${proxy.url} ${proxy.authorization ?? ''}`
    const known = this.#dispatchers.get(name)
    if (known !== undefined) return known
    const made = proxy === undefined ? this.#direct(library) : this.#proxied(library, proxy)
    this.#dispatchers.set(name, made)
    return made
  }

  #direct({ Agent, buildConnector, tls }: Library): Dispatcher {
    const { route } = this.#options
    const connect = route === undefined ? tls : routed(buildConnector(tls), route)
    return new Agent({ ...this.#limits(), connect })
  }

  #proxied({ Pool, ProxyAgent, tls }: Library, proxy: ProxyRoute): Dispatcher {
    return new ProxyAgent({
      ...this.#limits(),
      uri: proxy.url,
      factory: (origin, settings) => new Pool(origin, finallyFailing(settings)),
      // Plain http is forwarded, as every other client does: few proxies open a tunnel to port 80.
      proxyTunnel: false,
      requestTls: tls,
      proxyTls: tls,
      ...(proxy.authorization !== undefined && { token: proxy.authorization }),
    })
  }

  #limits() {
    const { maxConnections } = this.#options
    return {
      pipelining: 1,
      headersTimeout: 0,
      bodyTimeout: 0,
      ...(maxConnections !== undefined && { connections: maxConnections }),
    }
  }
}

function routed(connect: buildConnector.connector, route: HttpRoute): buildConnector.connector {
  return (target, done) => {
    const to = route(target.hostname, Number(target.port || (target.protocol === 'https:' ? 443 : 80)))
    if (to === undefined) return connect(target, done)
    connect({ ...target, hostname: to.host, port: String(to.port), servername: target.hostname }, done)
  }
}

/** The library writes Latin-1; this makes it write the value's UTF-8 bytes. */
function onTheWire(value: string): string {
  for (let at = 0; at < value.length; at += 1) {
    if (value.charCodeAt(at) > 0x7f) return Buffer.from(value, 'utf8').toString('latin1')
  }
  return value
}

/**
 * A proxy that drops our connection makes the library report the one code after which it connects again, without pause
 * or end. This gives the error another code.
 */
function finallyFailing(settings: object): Pool.Options {
  if (!('connect' in settings) || !isConnector(settings.connect)) return settings
  const { connect } = settings
  const once: buildConnector.connector = (target, done) =>
    connect(target, (error, socket) => {
      if (error === null) done(null, socket)
      else done(new Error(`the proxy failed: ${error.message}`, { cause: error }), null)
    })
  return { ...settings, connect: once }
}

function isConnector(value: unknown): value is buildConnector.connector {
  return typeof value === 'function'
}
