import { environmentHash, shortDigest } from './digest.js'
import { type ServerKey, serialiseKey } from './key.js'
import type { NamedTool, NamingInput, NamingStrategy } from './naming.js'
import { toolIdentity } from './repeated.js'
import { sanitise } from './sanitise.js'

const DELIMITER = '__'
const PREFIX = 'mcp__'
const BUDGET = 128
/** `_` and 12 hex digits. */
const SUFFIX = 13
/** Leaves room for the delimiter and a bare suffix. */
const CUT_NAMESPACE = BUDGET - DELIMITER.length - SUFFIX

export interface CodexNamingOptions {
  /** `multi_environment_mcp`: scoped servers get the hash of their environment. Off by default, as in the reference. */
  readonly multiEnvironment?: boolean
  /** False when `non_prefixed_mcp_tool_names` is on: nobody gets `mcp__`. True by default. */
  readonly prefixed?: boolean
  /** Raw names of servers that get no `mcp__`. */
  readonly nonPrefixedServers?: readonly string[]
}

/** A tool on its way through the steps. `namespace` and `name` change, the rest stays. */
interface Draft {
  readonly input: NamingInput
  /** S: what namespaces sort by. */
  readonly scope: Buffer
  /** I: two tools of one namespace identity share their namespace. */
  readonly namespaceIdentity: string
  /** K, as text and as the bytes it sorts by. */
  readonly identity: string
  readonly order: Buffer
  /** Tells apart what K does not. */
  readonly own: string
  readonly namespace: string
  readonly name: string
}

/**
 * The names of Codex CLI 0.171.0, byte for byte (reference: identity-and-names, 2 to 4). A name depends on the whole
 * set: servers whose sanitised names collide all get a suffix, and a tool that does not fit into 128 bytes is cut.
 *
 * With `multiEnvironment` off the scope plays no part in a name; the catalog then leaves one registration a name.
 * `flat` is `<namespace>__<name>`; of two pairs that join to one text, the later by identity gets a suffix.
 *
 * @example
 * ```ts
 * codexNaming({ multiEnvironment: true }).assign([{ key: serverKey('notes', 'enva'), tool: 'add' }])
 * // [{ namespace: 'mcp__4398a80ccd8f__notes', name: 'add', … }]
 * ```
 */
export function codexNaming(options: CodexNamingOptions = {}): NamingStrategy {
  return Object.freeze({
    id: 'codex' as const,
    assign(tools: readonly NamingInput[]): readonly NamedTool[] {
      const drafts = draftEach(tools, options)
      const apart = separateNames(separateNamespaces(drafts))
      const fitted = fitEach(apart.sort(inIdentityOrder))
      return Object.freeze(joinEach(fitted).sort(inOfferedOrder).map(toNamedTool))
    },
  })
}

/** Steps 1 and 2: identities, sanitising, environment hash, prefix. A repeated identity is dropped. */
function draftEach(tools: readonly NamingInput[], options: CodexNamingOptions): Draft[] {
  const { multiEnvironment = false, prefixed = true } = options
  const withoutPrefix = new Set(options.nonPrefixedServers)
  const drafts = new Map<string, Draft>()
  for (const input of tools) {
    const { key, tool, connectorId = '', rawNamespace = key.name, callableName = tool } = input
    const scope = multiEnvironment ? serialiseKey(key) : key.name
    const namespaceIdentity = `${scope}\0${rawNamespace}\0${connectorId}`
    const identity = `${namespaceIdentity}\0${callableName}\0${tool}`
    const own = toolIdentity(input)
    if (drafts.has(own)) continue
    drafts.set(own, {
      input,
      scope: Buffer.from(scope),
      namespaceIdentity,
      identity,
      order: Buffer.from(identity),
      own,
      namespace: plainNamespace(key, rawNamespace, multiEnvironment, prefixed && !withoutPrefix.has(key.name)),
      name: sanitise(callableName),
    })
  }
  return [...drafts.values()]
}

function plainNamespace(key: ServerKey, raw: string, multiEnvironment: boolean, prefixed: boolean): string {
  const scoped = multiEnvironment && key.environment !== null
  const namespace = scoped ? `${environmentHash(key.environment)}${DELIMITER}${sanitise(raw)}` : sanitise(raw)
  return prefixed && !namespace.startsWith(PREFIX) ? PREFIX + namespace : namespace
}

/** Step 3: where different identities share a namespace, each gets a suffix. */
function separateNamespaces(drafts: readonly Draft[]): Draft[] {
  const identities = new Map<string, Set<string>>()
  for (const { namespace, namespaceIdentity } of drafts) {
    const sharing = identities.get(namespace) ?? new Set()
    identities.set(namespace, sharing.add(namespaceIdentity))
  }
  return drafts.map((draft) =>
    (identities.get(draft.namespace)?.size ?? 0) > 1
      ? { ...draft, namespace: suffixNamespace(draft.namespace, draft.namespaceIdentity) }
      : draft,
  )
}

function suffixNamespace(namespace: string, identity: string): string {
  const suffix = `_${shortDigest(identity)}`
  return namespace.endsWith(DELIMITER) ? namespace.slice(0, -DELIMITER.length) + suffix + DELIMITER : namespace + suffix
}

/** Step 4: tools of one namespace that share a name each get a suffix. */
function separateNames(drafts: readonly Draft[]): Draft[] {
  const sharing = new Map<string, number>()
  for (const draft of drafts) sharing.set(pairOf(draft), (sharing.get(pairOf(draft)) ?? 0) + 1)
  return drafts.map((draft) =>
    (sharing.get(pairOf(draft)) ?? 0) > 1 ? { ...draft, name: `${draft.name}_${shortDigest(draft.identity)}` } : draft,
  )
}

/** Step 5, in order of K: a pair that is too long or taken is cut and closed by a hash. */
function fitEach(drafts: readonly Draft[]): Draft[] {
  const taken = new Set<string>()
  return drafts.map((draft) => {
    let fitted = draft
    for (let attempt = 0; tooLong(fitted) || taken.has(pairOf(fitted)); attempt += 1) fitted = cut(draft, attempt)
    taken.add(pairOf(fitted))
    return fitted
  })
}

/** Step 5's cut is per tool, so a very long server name can end up in two namespaces. */
function cut(draft: Draft, attempt: number): Draft {
  const suffix = suffixFor(draft, attempt)
  const room = BUDGET - draft.namespace.length - DELIMITER.length
  return room >= SUFFIX
    ? { ...draft, name: draft.name.slice(0, room - SUFFIX) + suffix }
    : { ...draft, namespace: draft.namespace.slice(0, CUT_NAMESPACE), name: suffix }
}

function suffixFor(draft: Draft, attempt: number): string {
  return `_${shortDigest(attempt === 0 ? draft.identity : `${draft.identity}\0${attempt}`)}`
}

function tooLong(draft: Draft): boolean {
  return draft.namespace.length + DELIMITER.length + draft.name.length > BUDGET
}

function pairOf(draft: Draft): string {
  return `${draft.namespace}\0${draft.name}`
}

/** `a` + `b__c` and `a__b` + `c` are two pairs but one text; a client without namespaces needs two. */
function joinEach(drafts: readonly Draft[]): (Draft & { readonly flat: string })[] {
  const taken = new Set<string>()
  return drafts.map((draft) => {
    const joined = draft.namespace + DELIMITER + draft.name
    let flat = joined
    for (let attempt = 0; taken.has(flat); attempt += 1) {
      flat = joined.slice(0, BUDGET - SUFFIX) + suffixFor(draft, attempt)
    }
    taken.add(flat)
    return { ...draft, flat }
  })
}

function inIdentityOrder(a: Draft, b: Draft): number {
  return Buffer.compare(a.order, b.order) || compareText(a.own, b.own)
}

function inOfferedOrder(a: Draft, b: Draft): number {
  return Buffer.compare(a.scope, b.scope) || compareText(a.namespace, b.namespace) || compareText(a.name, b.name)
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function toNamedTool({ namespace, name, flat, input }: Draft & { readonly flat: string }): NamedTool {
  return Object.freeze({ namespace, name, flat, key: input.key, tool: input.tool })
}
