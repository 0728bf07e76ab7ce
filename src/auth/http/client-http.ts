import { promisify } from 'node:util'
import * as zlib from 'node:zlib'
import { ReeveError, UnsupportedError } from '../../errors.js'
import { type AuthHttp, type AuthReply, type AuthRequest, MAX_BODY_BYTES } from './auth-http.js'

/** How an environment sends one request: its HTTP client fits. It follows no redirect, and goes through its proxies. */
export interface RequestSender {
  request(request: AuthRequest): Promise<SentReply>
}

interface SentReply {
  readonly status: number
  header(name: string): string | undefined
  readonly body: AsyncIterable<Uint8Array>
  cancel(): void
}

/**
 * An `AuthHttp` over the HTTP client of the host, with its connections, proxies and certificates.
 *
 * `send` rejects with what the client says, with `UnsupportedError` (an encoding that this Node can't read;
 * `data.encoding`) or `ReeveError` `limit_exceeded`.
 */
export function createAuthHttp(client: RequestSender): AuthHttp {
  return {
    send: async (request): Promise<AuthReply> => {
      const reply = await client.request(request)
      const header = (name: string) => reply.header(name.toLowerCase())
      const bytes = await readBounded(reply)
      return {
        status: reply.status,
        header,
        body: (await decoded(bytes, header('content-encoding'))).toString('utf8'),
      }
    },
  }
}

async function readBounded(reply: SentReply): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of reply.body) {
    size += chunk.byteLength
    if (size > MAX_BODY_BYTES) throw tooLarge()
    chunks.push(chunk)
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
