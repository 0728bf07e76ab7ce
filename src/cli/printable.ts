/**
 * Text of a server or a file, safe to show on a terminal: control characters (escape sequences, carriage returns,
 * bidirectional overrides) are written out as `\x1b`, so that nobody else moves the cursor or repaints our lines.
 * Newlines and tabs stay.
 */
export function printable(text: string): string {
  return text.replace(CONTROL, written)
}

/** The same on one line: line breaks and tabs become a space. */
export function oneLine(text: string): string {
  return printable(text.replace(/[\r\n\t\u2028\u2029]+/g, ' ')).trim()
}

const CONTROL = new RegExp(
  `[${[
    [0x00, 0x08],
    [0x0b, 0x1f],
    [0x7f, 0x9f],
    [0x200e, 0x200f],
    [0x202a, 0x202e],
    [0x2066, 0x2069],
  ]
    .map((range) => range.map((code) => `\\u${code.toString(16).padStart(4, '0')}`).join('-'))
    .join('')}]`,
  'g',
)

function written(character: string): string {
  const code = character.charCodeAt(0)
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`
}
