import { type ServerKey, serialiseKey } from '../../identity/index.js'
import type { Era } from '../../protocol/index.js'
import type { EraMemory } from './memory.js'

/** Milliseconds after which a server is asked again. */
const TRUSTED_FOR = 7 * 24 * 60 * 60_000

export interface EraKnowledgeOptions {
  readonly key: ServerKey
  /** Set by the configuration: then nothing is found out or remembered. */
  readonly pinned: Era | undefined
  /** Of how the server is launched or reached. */
  readonly identity: string
  readonly memory: EraMemory | undefined
  readonly now: () => number
  /** The memory failed; the server is asked instead. */
  readonly warn: (error: unknown) => void
}

/** What is known of one server's era before it is asked. */
export class EraKnowledge {
  readonly pinned: Era | undefined
  readonly #options: EraKnowledgeOptions
  /** Also without a durable memory, a restart asks no second time. */
  #found: { readonly era: Era; readonly foundAt: number } | undefined

  constructor(options: EraKnowledgeOptions) {
    this.#options = options
    this.pinned = options.pinned
  }

  /** Undefined: it has to be found out. */
  get expected(): Era | undefined {
    const { memory, identity, now } = this.#options
    const known = this.#found ?? this.#remembering(() => memory?.get(identity))
    const age = known === undefined ? undefined : now() - known.foundAt
    return age !== undefined && age >= 0 && age < TRUSTED_FOR ? known?.era : undefined
  }

  /** Whether the server has to be asked. */
  get unknown(): boolean {
    return this.pinned === undefined && this.expected === undefined
  }

  learn(era: Era, protocolVersion: string): void {
    const { key, memory, identity, now, pinned } = this.#options
    if (pinned !== undefined) return
    this.#found = { era, foundAt: now() }
    this.#remembering(() => memory?.put(identity, serialiseKey(key), { era, protocolVersion }))
  }

  /** It turned out otherwise, or can't be told any more. */
  forget(): void {
    const { memory, identity } = this.#options
    if (this.pinned !== undefined) return
    this.#found = undefined
    this.#remembering(() => memory?.forget(identity))
  }

  #remembering<T>(work: () => T): T | undefined {
    try {
      return work()
    } catch (error) {
      this.#options.warn(error)
      return undefined
    }
  }
}
