import fc from 'fast-check'
import type { JsonObject, JsonValue } from '../../../../src/protocol/index.js'

/** Members that the protocol, or the runtime, gives a meaning to: they are not unknown. */
const KNOWN: ReadonlySet<string> = new Set(
  `_meta action annotations arguments argument audience blob cacheScope capabilities completion content contents context
  cursor data description elicitationId execution hasMore icons id inputRequests inputResponses inputSchema instructions
  isError jsonrpc lastModified level logger maxTokens message messages method mimeType mode model name nextCursor
  outputSchema params priority progress progressToken prompts ref requestState requestedSchema resource
  resourceTemplates resources result resultType role roots schema serverInfo size src stopReason structuredContent
  supportedVersions task taskId text threadId title tools total ttlMs type uri uriTemplate url values version
  protocolVersion clientInfo tasks sampling elicitation logging extensions experimental properties required
  $schema $ref items`.split(/\s+/),
)

/** Keys that trip careless code, and ordinary ones. */
const KEYS = fc.oneof(
  { weight: 3, arbitrary: fc.string({ unit: 'grapheme', maxLength: 12 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 4 }) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'toJSON', 'then', 'length', ''],
      ...['0', '42', '-1', '\ud800', '\u0000', '\u2028', 'x-vendor', 'com.example/thing', 'io.example.deep/thing.x'],
    ),
  },
)

const STRINGS = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom('\udc00', '\u2029', '\ufeff', '</script>'),
)

const NUMBERS = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.constantFrom(0, 1e21, 1e-7, 5e-324, Number.MAX_VALUE, Number.MAX_SAFE_INTEGER, 2 ** 53 + 2, 0.1, -1.5e300),
)

/** Any JSON, with whatever keys. */
export const ANY_JSON: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue; leaf: JsonValue }>((tie) => ({
  leaf: fc.oneof(STRINGS, NUMBERS, fc.boolean(), fc.constant(null)),
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 3, arbitrary: tie('leaf') },
    { weight: 1, arbitrary: fc.array(tie('value'), { maxLength: 3 }) },
    { weight: 2, arbitrary: objectOf(KEYS, tie('value')) },
  ),
})).value

const UNKNOWN_KEYS = KEYS.filter((key) => !KNOWN.has(key))

/** Members that nobody knows. */
export const UNKNOWN_MEMBERS: fc.Arbitrary<JsonObject> = objectOf(UNKNOWN_KEYS, ANY_JSON)

/** `_meta` that nobody knows: never names that belong to the host of one side. */
export const UNKNOWN_META: fc.Arbitrary<JsonObject> = objectOf(
  UNKNOWN_KEYS.filter((key) => !/^(codex|openai|_|x-(codex|openai))/i.test(key) || key === '__proto__'),
  ANY_JSON,
)

/** An object of these members, with unknown ones before or after them. */
export function open(members: Readonly<Record<string, fc.Arbitrary<JsonValue>>>): fc.Arbitrary<JsonObject> {
  return fc
    .tuple(fc.record(members), UNKNOWN_MEMBERS, fc.boolean())
    .map(([known, unknown, before]) => (before ? { ...unknown, ...known } : { ...known, ...unknown }))
}

/** Keys of the list come first where they are integers; everything else keeps its order, `__proto__` too. */
function objectOf(keys: fc.Arbitrary<string>, values: fc.Arbitrary<JsonValue>): fc.Arbitrary<JsonObject> {
  return fc
    .uniqueArray(fc.tuple(keys, values), { selector: ([key]) => key, maxLength: 4 })
    .map(
      (members) =>
        JSON.parse(
          `{${members.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(',')}}`,
        ) as JsonObject,
    )
}
