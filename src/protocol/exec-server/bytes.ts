/** Without groups: a repeated group overflows the stack of the engine on a long text. */
const ALPHABET = /^[A-Za-z0-9+/]*={0,2}$/

/** Standard base64 with padding (RFC 4648, 4), as the protocol writes bytes. */
export function encodeBytes(bytes: Uint8Array | string): string {
  if (typeof bytes === 'string') return Buffer.from(bytes, 'utf8').toString('base64')
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}

/** Undefined for anything but standard base64 with padding: no other alphabet, no space, no loose end. */
export function decodeBytes(text: unknown): Buffer | undefined {
  if (typeof text !== 'string' || text.length % 4 !== 0 || !ALPHABET.test(text)) return undefined
  const end = text.slice(-4)
  if (Buffer.from(end, 'base64').toString('base64') !== end) return undefined
  return Buffer.from(text, 'base64')
}
