import { shortDigest } from './digest.js'
import { keyText, type ServerKey, serialiseKey } from './key.js'
import type { NamedTool, NamingInput, NamingStrategy, ToolName } from './naming.js'

const DELIMITER = '__'
const BUDGET = 128
/** `_` and 12 hex digits. */
const SUFFIX = 13
/** In a namespace of this length there is room for a name that is all hash. */
const CUT_NAMESPACE = BUDGET - DELIMITER.length - SUFFIX
/** Tools whose names are remembered; of those that are gone, the ones that were longest not seen are forgotten first. */
const REMEMBERED = 10_000

export interface PinnedNamingOptions {
  /** Off: a server's name is its identity, whichever environment has it. */
  readonly multiEnvironment: boolean
}

/**
 * The names of another strategy, kept: a name that was given out stays with its tool, and whoever comes later and would
 * share it gets the suffix alone (reference: known-quirks, 12). All tools of a server are in one namespace: where one needs
 * it cut, all go into the cut one (13); only a tool that comes later and does not fit goes into a second one. It remembers:
 * one for each thread.
 *
 * @example
 * ```ts
 * const naming = pinnedNaming(codexNaming(), { multiEnvironment: false })
 * naming.assign([{ key: serverKey('a.b'), tool: 'add' }])                  // mcp__a_b
 * naming.assign([{ key: serverKey('a.b'), tool: 'add' }, { key: serverKey('a-b'), tool: 'add' }])
 * // mcp__a_b as before, and mcp__a_b_e0598e406614
 * ```
 */
export function pinnedNaming(strategy: NamingStrategy, options: PinnedNamingOptions): NamingStrategy {
  const pins = new Pins(options.multiEnvironment)
  return Object.freeze({
    id: strategy.id,
    assign: (tools: readonly NamingInput[]) => pins.named(strategy.assign(pins.withRemembered(tools)), tools),
  })
}

interface Pin extends ToolName {
  readonly input: NamingInput
}

class Pins {
  readonly #multiEnvironment: boolean
  /** By tool, in the order of their last use. */
  readonly #pins = new Map<string, Pin>()
  /** The namespace of each server, and whose a namespace is. */
  readonly #namespaces = new Map<string, string>()
  readonly #owners = new Map<string, string>()
  /** Names that are given out, each in its namespace, and joined. */
  readonly #taken = new Set<string>()

  constructor(multiEnvironment: boolean) {
    this.#multiEnvironment = multiEnvironment
  }

  /** What was there counts with what is: a name that is taken must not look free. */
  withRemembered(tools: readonly NamingInput[]): readonly NamingInput[] {
    const here = new Set(tools.map((input) => this.#toolText(input)))
    return [...tools, ...[...this.#pins].flatMap(([tool, { input }]) => (here.has(tool) ? [] : [input]))]
  }

  named(proposals: readonly NamedTool[], tools: readonly NamingInput[]): readonly NamedTool[] {
    const inputs = new Map(tools.map((input) => [this.#toolText(input), input]))
    const wanted = proposals.flatMap((proposal) => {
      const input = inputs.get(this.#toolText(proposal))
      return input === undefined ? [] : [{ proposal, input }]
    })
    for (const [owner, names] of this.#newOwners(wanted)) this.#own(owner, shortest(names))
    const named = wanted.map(({ proposal, input }) => ({ proposal, pin: this.#pin(proposal, input) }))
    this.#forget(inputs)
    return Object.freeze(
      named
        .map(({ proposal: { key, tool }, pin: { namespace, name, flat } }) =>
          Object.freeze({ namespace, name, flat, key, tool }),
        )
        .sort((a, b) => this.#order(a, b)),
    )
  }

  #newOwners(wanted: readonly { readonly proposal: NamedTool; readonly input: NamingInput }[]) {
    const owners = new Map<string, string[]>()
    for (const { proposal, input } of wanted) {
      const owner = this.#ownerText(input)
      if (!this.#namespaces.has(owner)) owners.set(owner, [...(owners.get(owner) ?? []), proposal.namespace])
    }
    return owners
  }

  /** Two that were cut may have become one. */
  #own(owner: string, proposed: string): string {
    let namespace = proposed
    for (let attempt = 0; this.#owners.has(namespace); attempt += 1)
      namespace = proposed.slice(0, CUT_NAMESPACE - SUFFIX) + suffix(owner, attempt)
    this.#namespaces.set(owner, namespace)
    this.#owners.set(namespace, owner)
    return namespace
  }

  #pin(proposal: NamedTool, input: NamingInput): Pin {
    const tool = this.#toolText(input)
    const known = this.#pins.get(tool)
    // Another connector's by now, perhaps of another account: nothing of the old name is its to have.
    const isSameOwner = known !== undefined && this.#ownerText(known.input) === this.#ownerText(input)
    if (known !== undefined && !isSameOwner) this.#release(known)
    const pin = { ...(isSameOwner ? known : this.#name(tool, proposal, input)), input }
    this.#pins.delete(tool)
    this.#pins.set(tool, pin)
    return pin
  }

  #name(tool: string, { name: proposed }: NamedTool, input: NamingInput): ToolName {
    const namespace = this.#namespaceFor(proposed, input)
    const room = BUDGET - namespace.length - DELIMITER.length
    let name = proposed.length <= room ? proposed : proposed.slice(0, room - SUFFIX) + suffix(tool, 0)
    for (let attempt = 1; this.#taken.has(pairText(namespace, name)); attempt += 1)
      name = proposed.slice(0, room - SUFFIX) + suffix(tool, attempt)
    const joined = namespace + DELIMITER + name
    let flat = joined
    // `a` + `b__c` and `a__b` + `c` are one text.
    for (let attempt = 0; this.#taken.has(flat); attempt += 1)
      flat = joined.slice(0, BUDGET - SUFFIX) + suffix(tool, attempt)
    this.#taken.add(pairText(namespace, name)).add(flat)
    return { namespace, name, flat }
  }

  #namespaceFor(name: string, input: NamingInput): string {
    const owner = this.#ownerText(input)
    const own = this.#namespaces.get(owner) ?? this.#own(owner, input.key.name)
    const room = BUDGET - own.length - DELIMITER.length
    if (room >= SUFFIX || (name.length <= room && !this.#taken.has(pairText(own, name)))) return own
    const second = `${owner}\0cut`
    return this.#namespaces.get(second) ?? this.#own(second, own.slice(0, CUT_NAMESPACE))
  }

  #forget(here: ReadonlyMap<string, NamingInput>): void {
    for (const [tool, pin] of this.#pins) {
      if (this.#pins.size <= REMEMBERED) return
      if (here.has(tool)) continue
      this.#pins.delete(tool)
      this.#release(pin)
    }
  }

  #release({ namespace, name, flat }: ToolName): void {
    this.#taken.delete(flat)
    this.#taken.delete(pairText(namespace, name))
  }

  #order(a: NamedTool, b: NamedTool): number {
    const scopes = Buffer.compare(Buffer.from(this.#scope(a.key)), Buffer.from(this.#scope(b.key)))
    return scopes || compareText(a.namespace, b.namespace) || compareText(a.name, b.name)
  }

  #scope(key: ServerKey): string {
    return this.#multiEnvironment ? serialiseKey(key) : key.name
  }

  #toolText({ key, tool }: Pick<NamingInput, 'key' | 'tool'>): string {
    return JSON.stringify([this.#serverText(key), tool])
  }

  #ownerText({ key, rawNamespace, connectorId }: NamingInput): string {
    return JSON.stringify([this.#serverText(key), rawNamespace ?? key.name, connectorId ?? ''])
  }

  #serverText(key: ServerKey): string {
    return this.#multiEnvironment ? keyText(key) : key.name
  }
}

function suffix(identity: string, attempt: number): string {
  return `_${shortDigest(attempt === 0 ? identity : `${identity}\0${attempt}`)}`
}

function shortest(names: readonly string[]): string {
  return names.reduce((best, name) => (name.length < best.length ? name : best))
}

/** No flat name holds a NUL. */
function pairText(namespace: string, name: string): string {
  return `${namespace}\0${name}`
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
