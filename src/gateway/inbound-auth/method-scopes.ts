import { isRequest, type JsonRpcMessage } from '../../protocol/index.js'

/** Every client needs them to find out what else it needs. */
const FREE: ReadonlySet<string> = new Set(['initialize', 'ping', 'server/discover', 'logging/setLevel'])

const LISTS = [
  ['toolsListChanged', 'tools/list'],
  ['promptsListChanged', 'prompts/list'],
  ['resourcesListChanged', 'resources/list'],
] as const

/** Which scopes methods need. */
export class MethodScopes {
  readonly #required: readonly string[]
  readonly #exact = new Map<string, readonly string[]>()
  /** The longest first. */
  readonly #prefixes: (readonly [prefix: string, scopes: readonly string[]])[] = []
  readonly #others: readonly string[]
  readonly #mapped: readonly (readonly string[])[]

  /** @param mapping by method, `prefix/*` or `*`; the most exact one counts */
  constructor(mapping: ReadonlyMap<string, readonly string[]>, required: readonly string[] = []) {
    this.#required = required
    this.#mapped = [...mapping.values()]
    for (const [pattern, scopes] of mapping) {
      if (pattern.endsWith('/*')) this.#prefixes.push([pattern.slice(0, -1), scopes])
      else if (pattern !== '*') this.#exact.set(pattern, scopes)
    }
    this.#prefixes.sort(([a], [b]) => b.length - a.length)
    this.#others = mapping.get('*') ?? []
  }

  /** Of every request, whatever its method is. */
  get required(): readonly string[] {
    return this.#required
  }

  /** All that may be needed by anything. */
  get all(): readonly string[] {
    return [...new Set([...this.#required, ...this.#mapped.flat()])]
  }

  /** What these messages need together. Notifications and answers need nothing of their own. */
  neededBy(messages: readonly JsonRpcMessage[]): readonly string[] {
    const methods = messages.filter(isRequest).flatMap(({ method, params }) => methodsOf(method, params))
    return [...new Set([...this.#required, ...methods.flatMap((method) => this.#of(method))])]
  }

  #of(method: string): readonly string[] {
    if (FREE.has(method) && !this.#exact.has(method)) return []
    const prefixed = () => this.#prefixes.find(([prefix]) => method.startsWith(prefix))?.[1]
    return this.#exact.get(method) ?? prefixed() ?? this.#others
  }
}

/** A stream needs what asking for the same would. */
function methodsOf(method: string, params: unknown): readonly string[] {
  if (method !== 'subscriptions/listen') return [method]
  const wanted = memberOf(params, 'notifications')
  return [
    ...LISTS.flatMap(([member, list]) => (memberOf(wanted, member) === undefined ? [] : [list])),
    ...(memberOf(wanted, 'resourceSubscriptions') === undefined ? [] : ['resources/subscribe']),
    ...(memberOf(wanted, 'taskIds') === undefined ? [] : ['tasks/get']),
  ]
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined
}
