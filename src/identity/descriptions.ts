import type { ServerKey } from './key.js'
import type { NamedTool } from './naming.js'

const LIMIT_BYTES = 4096
const TRUNCATED = '\n[truncated]'

export interface NamespaceFacts {
  /** The namespace as offered. */
  readonly namespace: string
  readonly key: ServerKey
  /** What the server said at initialise. */
  readonly instructions?: string
  /** `multi_environment_mcp`: a scoped server names its environment. */
  readonly multiEnvironment: boolean
  /** Hosted apps: whose tools these are. Speaks instead of the instructions. */
  readonly connector?: { readonly name: string; readonly description?: string }
}

/**
 * What a model reads about a namespace (reference: identity-and-names, 5): the server's instructions or a stock line, for
 * a scoped server after `Runs in environment <id>.`. At most 4,096 bytes; a longer one is cut and says so.
 */
export function namespaceDescription(facts: NamespaceFacts): string {
  const own = facts.connector ? connectorText(facts.connector) : facts.instructions
  const text = own?.trim() ? own : undefined
  if (facts.multiEnvironment && facts.key.environment !== null) {
    const first = `Runs in environment ${facts.key.environment}.`
    return limitBytes(text === undefined ? first : `${first}\n${text}`)
  }
  return limitBytes(text ?? `Tools in the ${facts.namespace} namespace.`)
}

function connectorText({ name, description }: { readonly name: string; readonly description?: string }): string {
  return description?.trim() ? description : `Tools for working with ${name}.`
}

function limitBytes(text: string): string {
  const bytes = Buffer.from(text)
  if (bytes.length <= LIMIT_BYTES) return text
  let end = LIMIT_BYTES - TRUNCATED.length
  // Not inside a character: its trailing bytes are 10xxxxxx.
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return bytes.subarray(0, end).toString() + TRUNCATED
}

/**
 * A tool's description with the note on the plugins that brought it (reference: identity-and-names, 5). No plugin, no
 * note: the description comes back as it is.
 *
 * @example
 * ```ts
 * withPluginNote('Adds a note', ['notes']) // 'Adds a note. This tool is part of plugin `notes`.'
 * ```
 */
export function withPluginNote(description: string | undefined, pluginNames: readonly string[]): string | undefined {
  if (pluginNames.length === 0) return description
  const names = [...pluginNames]
    .sort()
    .map((name) => `\`${name}\``)
    .join(', ')
  const note = `This tool is part of plugin${pluginNames.length > 1 ? 's' : ''} ${names}.`
  const text = description?.trim() ?? ''
  if (text === '') return note
  return /[.!?]$/.test(text) ? `${text} ${note}` : `${text}. ${note}`
}

/** All that is left of a name that did not fit. */
const BARE_HASH = /^_[0-9a-f]{12}$/

/**
 * A tool's description with the name that the server gives the tool, where all that is shown of it is a hash (reference:
 * known-quirks, 14).
 */
export function withOwnName(
  description: string | undefined,
  { key, tool, name }: Pick<NamedTool, 'key' | 'tool' | 'name'>,
): string | undefined {
  if (!BARE_HASH.test(name) || name === tool) return description
  const own = `This is \`${tool}\` of \`${key.name}\`.`
  return description === undefined || description.trim() === '' ? own : `${own} ${description}`
}
