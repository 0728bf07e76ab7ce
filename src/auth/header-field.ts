/** One header of a request, in wire order. */
export type HeaderField = readonly [name: string, value: string]

/** The value can go out as it is: no control characters, no line ends. */
export function isHeaderValue(value: string): boolean {
  for (let at = 0; at < value.length; at += 1) {
    const code = value.charCodeAt(at)
    if ((code < 0x20 && code !== 0x09) || code === 0x7f) return false
  }
  return true
}
