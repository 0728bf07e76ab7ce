import type { JsonObject, JsonValue } from '../../../../src/protocol/index.js'

/** One value on both sides of the gateway: as it was sent, in the names of the receiver, and as it came. */
export interface Passage {
  readonly place: string
  readonly sent: JsonValue | undefined
  readonly came: JsonValue | undefined
}

/** What differs, or undefined. Values are the same when their JSON texts are, the order of members included. */
export function difference({ place, sent, came }: Passage): string | undefined {
  if (JSON.stringify(sent) === JSON.stringify(came)) return undefined
  return `${place}${firstDifference(sent, came)}`
}

function firstDifference(sent: JsonValue | undefined, came: JsonValue | undefined): string {
  if (!isContainer(sent) || !isContainer(came) || Array.isArray(sent) !== Array.isArray(came)) {
    return `: sent ${shown(sent)}, came ${shown(came)}`
  }
  const [before, after] = [Object.keys(sent), Object.keys(came)]
  for (const key of new Set([...before, ...after])) {
    const [inner, outer] = [own(sent, key), own(came, key)]
    if (JSON.stringify(inner) !== JSON.stringify(outer))
      return `[${JSON.stringify(key)}]${firstDifference(inner, outer)}`
  }
  return `: sent in the order ${JSON.stringify(before)}, came in the order ${JSON.stringify(after)}`
}

/** Without the members that an era or a hop adds. `_meta` that held nothing else, or nothing at all, goes too. */
export function without(value: JsonObject, members: readonly string[], metaMembers: RegExp): JsonObject {
  const kept = pick(value, (member) => !members.includes(member))
  if (!isContainer(kept._meta) || Array.isArray(kept._meta)) return kept
  const meta = pick(kept._meta, (member) => !metaMembers.test(member))
  return Object.keys(meta).length > 0 ? { ...kept, _meta: meta } : pick(kept, (member) => member !== '_meta')
}

function pick(object: JsonObject, keeps: (member: string) => boolean): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([member]) => keeps(member)))
}

function own(container: JsonObject | JsonValue[], key: string): JsonValue | undefined {
  return Object.getOwnPropertyDescriptor(container, key)?.value
}

function isContainer(value: JsonValue | undefined): value is JsonObject | JsonValue[] {
  return typeof value === 'object' && value !== null
}

function shown(value: JsonValue | undefined): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 400)
}
