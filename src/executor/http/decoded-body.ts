import { pipeline, type Readable, type Transform } from 'node:stream'
import * as zlib from 'node:zlib'

type Headers = readonly { readonly name: string; readonly value: string }[]

/** Parts are passed on as they come: an event stream must not wait for a full buffer. */
const DECODERS: ReadonlyMap<string, () => Transform> = new Map([
  ['gzip', () => zlib.createGunzip({ flush: zlib.constants.Z_SYNC_FLUSH })],
  ['x-gzip', () => zlib.createGunzip({ flush: zlib.constants.Z_SYNC_FLUSH })],
  ['deflate', () => zlib.createInflate({ flush: zlib.constants.Z_SYNC_FLUSH })],
  ['br', () => zlib.createBrotliDecompress({ flush: zlib.constants.BROTLI_OPERATION_FLUSH })],
])

export const ACCEPTED_ENCODINGS = 'gzip'

/** The body without its content encoding, and the headers that are still true of it. */
export function decodedBody(headers: Headers, body: Readable): { readonly headers: Headers; readonly body: Readable } {
  const encoding =
    headers
      .find(({ name }) => name === 'content-encoding')
      ?.value.trim()
      .toLowerCase() ?? ''
  const decoder = DECODERS.get(encoding)?.()
  if (decoder === undefined) return { headers, body }
  return {
    headers: headers.filter(({ name }) => name !== 'content-encoding' && name !== 'content-length'),
    // An error of either side ends both, and comes out at the reading end.
    body: pipeline(body, decoder, () => {}),
  }
}
