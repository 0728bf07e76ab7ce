import { createHash } from 'node:crypto'
import { compareKeys, compareSerialised, type ServerKey, ServerKeyMap } from './key.js'
import type { NamedTool, NamingInput, NamingStrategy } from './naming.js'

const DELIMITER = '__'
const LIMIT = 64
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567'
const DIGEST_CHARACTERS = 16
const MARK = '--'
const CLOSING = MARK.length + DIGEST_CHARACTERS
/** What every closed name ends in, and no plain one. */
const CLOSED = /--[a-z2-7]{16}$/

/**
 * A name for a server's tool or prompt: at most 64 characters of `[A-Za-z0-9_-]`, a pure function of environment, server
 * and tool, whatever else exists. Two different triples never share a name.
 *
 * Why they can't:
 * 1. A **plain** name is `server__tool` (thread-wide) or `environment__server__tool` (scoped), the parts unchanged. It is
 *    given only if every part is `[A-Za-z0-9_-]+` without `__`, environment and server do not end in `_`, the whole fits,
 *    and it does not end like a closed name. The first `__` of such a text stands exactly behind its first
 *    part, since that part neither holds `__` nor ends in `_`; the rest is a tool if it holds no further `__`, and
 *    otherwise a server and a tool, split in the same way. So a plain name spells exactly one triple.
 * 2. Any other triple gets a **closed** name: what is legible of it, then `--` and 16 base32 characters (80 bits) of
 *    SHA-256 over the triple as JSON. That text tells null from `""`, where a part ends, and lone surrogates apart; so two
 *    closed names are equal only if the digests are, and to meet a given name costs about 2^80 tries.
 * 3. Closed names end in `--` and 16 characters of `[a-z2-7]`; a triple whose plain name would is closed too. So the two
 *    sets are disjoint.
 *
 * @example
 * ```ts
 * readableName(serverKey('notes'), 'add')           // 'notes__add'
 * readableName(serverKey('notes', 'devbox'), 'add') // 'devbox__notes__add'
 * readableName(serverKey('notes'), 'add.one')       // 'notes__add_one--…'
 * ```
 */
export function readableName(key: ServerKey, tool: string): string {
  const parts = [...ownerParts(key), tool]
  return plainly(parts, isOwnerPlain(key) && isToolPlain(tool)) ?? closed(parts, [key.environment, key.name, tool])
}

/** The namespace of a server's tools: by the rules of {@link readableName}, for (environment, server). */
export function readableNamespace(key: ServerKey): string {
  const parts = ownerParts(key)
  return plainly(parts, isOwnerPlain(key)) ?? closed(parts, [key.environment, key.name])
}

/** The name of a tool inside its namespace: by the rules of {@link readableName}, for the tool alone. */
function readableToolName(tool: string): string {
  return plainly([tool], isToolPlain(tool)) ?? closed([tool], [tool])
}

/**
 * Names that a person can read and that never move when servers come and go. Namespace, name and flat are each injective:
 * over (environment, server), over the tool, over the triple. Offered by server as in the reference, then by name.
 */
export const readableNaming: NamingStrategy = Object.freeze({
  id: 'readable' as const,
  assign(tools: readonly NamingInput[]): readonly NamedTool[] {
    const owners = new ServerKeyMap<Set<string>>()
    for (const { key, tool } of tools) {
      const owned = owners.get(key)
      if (owned) owned.add(tool)
      else owners.set(key, new Set([tool]))
    }
    return Object.freeze(
      [...owners]
        .sort(([a], [b]) => compareSerialised(a, b) || compareKeys(a, b))
        .flatMap(([key, owned]) => nameTools(key, owned)),
    )
  },
})

function nameTools(key: ServerKey, tools: Iterable<string>): NamedTool[] {
  const namespace = readableNamespace(key)
  return [...tools]
    .map((tool) => Object.freeze({ namespace, name: readableToolName(tool), flat: readableName(key, tool), key, tool }))
    .sort((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)))
}

function ownerParts(key: ServerKey): string[] {
  return key.environment === null ? [key.name] : [key.environment, key.name]
}

function isOwnerPlain(key: ServerKey): boolean {
  return ownerParts(key).every((part) => isToolPlain(part) && !part.endsWith('_'))
}

function isToolPlain(tool: string): boolean {
  return /^[A-Za-z0-9_-]+$/.test(tool) && !tool.includes(DELIMITER)
}

function plainly(parts: readonly string[], unambiguous: boolean): string | undefined {
  const name = parts.join(DELIMITER)
  return unambiguous && name.length <= LIMIT && !CLOSED.test(name) ? name : undefined
}

function closed(parts: readonly string[], identity: readonly (string | null)[]): string {
  return legible(parts, LIMIT - CLOSING) + MARK + digest(JSON.stringify(identity))
}

/** As much of each part as fits: a short one leaves its share to those behind it in length. */
function legible(parts: readonly string[], limit: number): string {
  const cleaned = parts.map((part) => part.slice(0, limit).replace(/[^A-Za-z0-9_-]+/g, '_') || '_')
  const widths = shareOut(
    cleaned.map((part) => part.length),
    limit - DELIMITER.length * (parts.length - 1),
  )
  return cleaned.map((part, index) => part.slice(0, widths[index])).join(DELIMITER)
}

function shareOut(lengths: readonly number[], room: number): number[] {
  const widths = lengths.map(() => 0)
  const byLength = [...lengths.entries()].sort(([, a], [, b]) => a - b)
  let left = room
  for (const [rank, [index, length]] of byLength.entries()) {
    const width = Math.min(length, Math.floor(left / (byLength.length - rank)))
    widths[index] = width
    left -= width
  }
  return widths
}

function digest(text: string): string {
  const bytes = createHash('sha256').update(text, 'utf8').digest()
  let characters = ''
  // 5 bytes are 8 characters; the mask keeps every step inside 32 bits.
  for (let index = 0, bits = 0, held = 0; characters.length < DIGEST_CHARACTERS; index += 1) {
    held = ((held << 8) | bytes.readUInt8(index)) & 0xfff
    bits += 8
    for (; bits >= 5; bits -= 5) characters += BASE32.charAt((held >> (bits - 5)) & 31)
  }
  return characters
}
