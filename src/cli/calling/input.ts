import type { JsonObject, JsonValue } from '../../protocol/index.js'
import type { Cli } from '../cli.js'
import { UsageError } from '../usage.js'
import { isObject } from './schema-type.js'

/** More than any server takes in one message. */
const LIMIT = 16 * 1024 * 1024

/**
 * The arguments object of `--input JSON`, or of stdin where the text is `-`.
 * @throws UsageError when it is no JSON object
 */
export async function inputObject(cli: Cli, text: string): Promise<JsonObject> {
  const place = text === '-' ? 'stdin' : '--input'
  const value = parse(text === '-' ? await readAll(cli) : text, place)
  if (!isObject(value)) throw new UsageError(`${place} must be a JSON object`, { place })
  return value
}

function parse(text: string, place: string): JsonValue {
  try {
    const value: JsonValue = JSON.parse(text)
    return value
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new UsageError(`${place} is not JSON: ${reason}`, { place, cause })
  }
}

async function readAll(cli: Cli): Promise<string> {
  if (cli.stdin.isTTY) cli.err.line('reading the arguments as JSON from the terminal; end with Ctrl-D')
  const chunks: Buffer[] = []
  let size = 0
  const stop = (): void => void cli.stdin.destroy(new Error('stopped'))
  cli.signal.addEventListener('abort', stop, { once: true })
  try {
    for await (const chunk of cli.stdin) {
      const bytes = Buffer.from(chunk)
      size += bytes.length
      if (size > LIMIT) throw new UsageError(`stdin holds more than ${LIMIT} bytes`, { place: 'stdin' })
      chunks.push(bytes)
    }
  } finally {
    cli.signal.removeEventListener('abort', stop)
  }
  return Buffer.concat(chunks).toString('utf8')
}
