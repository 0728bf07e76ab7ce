import { rootCertificates } from 'node:tls'
import { promisify } from 'node:util'
import * as zlib from 'node:zlib'
import { ReeveError, UnsupportedError } from '../../errors.js'
import { type AuthHttp, type AuthReply, type AuthRequest, MAX_BODY_BYTES } from './auth-http.js'

export interface AuthHttpOptions {
  /** PEM certificates trusted beside Node's own; see `trustedCertificates`. */
  readonly ca?: readonly string[]
  /** Connects elsewhere than the URL says: `host:port` of the URL → where. TLS still checks the URL's name. */
  readonly route?: (host: string, port: number) => { readonly host: string; readonly port: number }
}

export interface ClosableAuthHttp extends AuthHttp, AsyncDisposable {}

/**
 * An `AuthHttp` of its own keep-alive connections. The library is loaded by the first request: most runs send none.
 *
 * `send` rejects with what the transport says, with `UnsupportedError` (an encoding that this Node can't read;
 * `data.encoding`) or `ReeveError` `limit_exceeded`.
 */
export function createAuthHttp(options: AuthHttpOptions = {}): ClosableAuthHttp {
  const loading: { agent?: ReturnType<typeof openAgent> } = {}
  return {
    send: async (request) => {
      loading.agent ??= openAgent(options)
      const { send } = await loading.agent
      return send(request)
    },
    [Symbol.asyncDispose]: async () => {
      if (loading.agent !== undefined) await (await loading.agent).close()
    },
  }
}

async function openAgent({ ca, route }: AuthHttpOptions) {
  const { default: undici } = await import('undici')
  const tls = ca === undefined || ca.length === 0 ? {} : { ca: [...rootCertificates, ...ca] }
  const connector = undici.buildConnector(tls)
  const connect: typeof connector =
    route === undefined
      ? connector
      : (target, done) => {
          const to = route(target.hostname, Number(target.port || (target.protocol === 'https:' ? 443 : 80)))
          connector({ ...target, hostname: to.host, port: String(to.port), servername: target.hostname }, done)
        }
  const agent = new undici.Agent({ connect })
  const send = async ({ method, url, headers, body, signal }: AuthRequest): Promise<AuthReply> => {
    const flat = headers.flat()
    const reply = await undici.request(url, { method, headers: flat, body: body ?? null, signal, dispatcher: agent })
    const header = (name: string) => {
      const value = reply.headers[name.toLowerCase()]
      return Array.isArray(value) ? value[0] : value
    }
    const bytes = await readBounded(reply.body)
    return {
      status: reply.statusCode,
      header,
      body: (await decoded(bytes, header('content-encoding'))).toString('utf8'),
    }
  }
  return { send, close: () => agent.destroy() }
}

async function readBounded(body: AsyncIterable<unknown>): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body) {
    if (!(chunk instanceof Uint8Array)) continue
    size += chunk.byteLength
    if (size > MAX_BODY_BYTES) throw tooLarge()
    chunks.push(Buffer.from(chunk))
  }
  return Buffer.concat(chunks)
}

async function decoded(bytes: Buffer, encoding = 'identity'): Promise<Buffer> {
  const settings = { maxOutputLength: MAX_BODY_BYTES }
  const name = encoding.trim().toLowerCase()
  if (name === 'identity' || name === '') return bytes
  if (name === 'gzip') return promisify<Buffer, object, Buffer>(zlib.gunzip)(bytes, settings)
  // Node 20 has none.
  const zstd: unknown = Reflect.get(zlib, 'zstdDecompressSync')
  if (name === 'zstd' && typeof zstd === 'function') {
    const text: unknown = zstd(bytes, settings)
    if (Buffer.isBuffer(text)) return text
  }
  throw new UnsupportedError('the answer came in an encoding that cannot be read here', { data: { encoding: name } })
}

function tooLarge(): ReeveError {
  return new ReeveError('limit_exceeded', `an answer of the authority exceeds the limit of ${MAX_BODY_BYTES}`)
}
