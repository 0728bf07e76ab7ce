import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import {
  type AuditedCall,
  type AuditedFacts,
  type AuditLog,
  authorityDigest,
  type CallAuthority,
} from '../authority/index.js'
import type { ServerConfig } from '../config/index.js'
import type { ServerKey } from '../identity/index.js'
import type { JsonObject, JsonValue } from '../protocol/index.js'
import type { PreparedFunction } from './functions/resource-functions.js'
import type { FunctionOutput } from './types.js'

/** Where calls are recorded now; undefined: nowhere. */
export type AuditSource = () => AuditLog | undefined

/** A call of a tool, or a request that calls none, once it is known whose it is. */
export interface CallToRecord {
  /** Absent: `tool`. */
  readonly operation?: Exclude<AuditedFacts['operation'], 'function'>
  readonly key: ServerKey
  readonly config: ServerConfig
  readonly tool: string
  /** Undefined: no profile governs the server. */
  readonly authority: CallAuthority | undefined
  readonly arguments: JsonValue | undefined
}

/** What a call tells of itself while it is made; undefined: nobody records it. */
export type CallRecord = Pick<AuditedCall, 'decided' | 'rewritten' | 'sending'> | undefined

interface KnownDigest {
  readonly authority: CallAuthority
  readonly digest: string
}

/** Records the calls of one thread, each once. */
export class CallAudit {
  readonly #threadId: string
  readonly #principal: string | undefined
  readonly #source: AuditSource
  /** Authorities are the same from call to call. */
  readonly #digests = new WeakMap<ServerConfig, KnownDigest>()

  constructor(threadId: string, source: AuditSource, principal?: string) {
    this.#threadId = threadId
    this.#principal = principal
    this.#source = source
  }

  /** @throws AuditNotWrittenError and whatever the call throws */
  tool(call: CallToRecord, make: (record: CallRecord) => Promise<JsonObject>): Promise<JsonObject> {
    const log = this.#source()
    if (log === undefined) return make(undefined)
    const { operation = 'tool', key, config, tool, authority, arguments: args } = call
    return log.track(
      {
        threadId: this.#threadId,
        ...this.#forWhom,
        turnId: authority?.turnId ?? null,
        callId: authority?.callId ?? randomUUID(),
        operation,
        key,
        executionEnvironment: config.environmentId,
        tool,
        authority: authority === undefined ? null : this.#digestOf(config, authority),
        arguments: args,
      },
      make,
    )
  }

  /** Its failures are answers, and failures all the same. */
  async function(
    tool: string,
    args: JsonValue | undefined,
    key: PreparedFunction['key'],
    make: (record: CallRecord) => Promise<FunctionOutput>,
  ): Promise<FunctionOutput> {
    const log = this.#source()
    if (log === undefined) return make(undefined)
    const facts = {
      threadId: this.#threadId,
      ...this.#forWhom,
      callId: randomUUID(),
      operation: 'function' as const,
      key: key ?? null,
      executionEnvironment: null,
      tool,
      authority: null,
      arguments: args,
    }
    let answer: FunctionOutput | undefined
    try {
      await log.track(facts, async (record) => {
        answer = await make(record)
        if (answer.error !== undefined) throw answer.error
        return answer.output
      })
    } catch (error) {
      if (answer?.error === undefined || answer.error !== error) throw error
    }
    if (answer === undefined) throw new TypeError(`${tool} gave no answer`)
    return answer
  }

  get #forWhom() {
    return this.#principal === undefined ? {} : { principal: this.#principal }
  }

  #digestOf(config: ServerConfig, authority: CallAuthority): string {
    const known = this.#digests.get(config)
    if (known !== undefined && hasSameDigest(known.authority, authority)) return known.digest
    const digest = authorityDigest(authority)
    this.#digests.set(config, { authority, digest })
    return digest
  }
}

/** By identity first: what a step issues its calls with is the same objects from call to call. */
function hasSameDigest(a: CallAuthority, b: CallAuthority): boolean {
  return (
    a.profile === b.profile &&
    a.cwd === b.cwd &&
    a.approval === b.approval &&
    a.reviewer === b.reviewer &&
    a.strictReview === b.strictReview &&
    a.catalogRevision === b.catalogRevision &&
    isSame(a.policy, b.policy) &&
    isSame(a.workspaceRoots, b.workspaceRoots)
  )
}

function isSame(a: unknown, b: unknown): boolean {
  return a === b || isDeepStrictEqual(a, b)
}
