import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import type { OAuthSettings, ServerConfig } from '../../config/index.js'
import { OAuthError } from '../../errors.js'
import { isLoopback } from './endpoint.js'

/** Where a browser is to come back to (reference: auth, 1.4). */
export interface CallbackPlace {
  /** Where to listen: this machine alone, unless a callback URL of another host is configured. */
  readonly host: string
  /** 0: any free one. */
  readonly port: number
  /** The redirect URI, once the port is known. */
  uri(port: number): string
}

/**
 * Of a server: its own settings before the general ones. The path ends with a text that belongs to the server's URL, so that
 * the callback of one server is never taken for that of another.
 */
export function callbackPlace({ transport }: Pick<ServerConfig, 'transport'>, settings: OAuthSettings): CallbackPlace {
  const own = transport.type === 'stdio' ? undefined : transport.oauth
  const serverUrl = transport.type === 'stdio' ? '' : transport.url
  const configured = own?.callbackUrl ?? settings.callbackUrl
  const url = configured !== undefined && URL.canParse(configured) ? new URL(configured) : undefined
  const isHere = url === undefined || isLoopback(url.hostname)
  const fixed = own?.callbackPort ?? settings.callbackPort
  return {
    host: isHere ? '127.0.0.1' : '0.0.0.0',
    port: fixed ?? (isHere && url !== undefined ? Number(url.port) : 0),
    uri(port) {
      const { origin, pathname } = url ?? new URL(`http://127.0.0.1:${port}/callback`)
      return `${origin}${pathname.replace(/\/$/, '')}/${callbackId(serverUrl)}`
    },
  }
}

/** base64url of the first 9 bytes of the SHA-256 of the URL without its fragment. */
function callbackId(serverUrl: string): string {
  const [whole = ''] = serverUrl.split('#')
  return createHash('sha256').update(whole).digest().subarray(0, 9).toString('base64url')
}

/** What becomes of one callback: the page that the browser shows follows it. */
export type TakeCallback = (url: string) => Promise<boolean>

/** Waits for browsers that come back from an authorization server. Answers nothing else. */
export class CallbackListener implements AsyncDisposable {
  readonly port: number
  /** Gets every callback at this path, as a whole URL. */
  ontake: { readonly path: string; readonly take: TakeCallback } | undefined
  readonly #server: Server
  readonly #answering = new Set<Promise<void>>()

  private constructor(server: Server, port: number) {
    this.#server = server
    this.port = port
    server.on('request', (request, response) => {
      const answered = this.#answer(request, response).finally(() => this.#answering.delete(answered))
      this.#answering.add(answered)
    })
  }

  /** @throws OAuthError `oauth_callback_unavailable` */
  static async listen({ host, port }: Pick<CallbackPlace, 'host' | 'port'>): Promise<CallbackListener> {
    const server = createServer()
    try {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject)
        server.listen(port, host, () => resolve())
      })
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause)
      throw new OAuthError('oauth_callback_unavailable', `cannot listen on ${host}:${port} for the callback: ${why}`, {
        place: `${host}:${port}`,
        cause,
      })
    }
    const address = server.address()
    return new CallbackListener(server, typeof address === 'object' && address !== null ? address.port : port)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    // The callback that ended the login is told so first, if its browser listens.
    const bound = new AbortController()
    const late = wait(LAST_WORDS, undefined, { signal: bound.signal }).catch(() => undefined)
    await Promise.race([Promise.allSettled(this.#answering), late])
    bound.abort()
    // The browser may keep its connection open for a long time.
    this.#server.closeAllConnections()
    await closed
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [base, target] = [`http://127.0.0.1:${this.port}`, request.url ?? '/']
    if (!URL.canParse(target, base)) return sent(response, 404, NOT_HERE)
    const url = new URL(target, base)
    const { ontake } = this
    const isCallback = ['code', 'error', 'error_description'].some((name) => url.searchParams.has(name))
    if (request.method !== 'GET' || ontake === undefined || url.pathname !== ontake.path)
      return sent(response, 404, NOT_HERE)
    if (!isCallback) return sent(response, 400, NO_CALLBACK)
    const taken = await ontake.take(url.href).catch(() => false)
    await sent(response, taken ? 200 : 400, taken ? TAKEN : REFUSED)
  }
}

/** Milliseconds that an answer may take once the login is over. */
const LAST_WORDS = 2_000

const TAKEN = 'You are logged in. You can close this page.'
const REFUSED = 'This login did not succeed. The terminal says why.'
const NO_CALLBACK = 'There is neither a code nor an error in this callback.'
const NOT_HERE = 'Not found.'

/** Loads nothing from elsewhere, and hands on nothing: the address of the page holds the code. */
function sent(response: ServerResponse, status: number, text: string): Promise<void> {
  if (response.closed) return Promise.resolve()
  const gone = new Promise<void>((resolve) => response.once('close', resolve))
  response.writeHead(status, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': "default-src 'none'",
    'Referrer-Policy': 'no-referrer',
    'Cache-Control': 'no-store',
    Connection: 'close',
  })
  response.end(`<!doctype html><title>Reeve</title><p>${text}</p>\n`)
  return gone
}
