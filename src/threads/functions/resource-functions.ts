import type { CapturedServer } from '../../connections/index.js'
import { ReeveError, ResourceFunctionError, UnsupportedCallError } from '../../errors.js'
import type { ServerKey } from '../../identity/index.js'
import type { JsonValue } from '../../protocol/index.js'
import { type ListKind, RESOURCES, TEMPLATES } from '../server-pages.js'
import type { FunctionOutput, FunctionTool } from '../types.js'
import { listArguments, type ReadArguments, type ResourceArguments, readArguments } from './arguments.js'
import { functionTools, isResourceFunction, type ResourceFunctionName } from './functions.js'
import { type ItemsMember, listAllText, listOneText, readText } from './output.js'
import { type ResolutionScope, resolveServer } from './resolution.js'
import { type RequestLimits, ResourceClient, type ResourceClientHost } from './resource-client.js'

/** What a thread lends to the functions of its steps. */
export interface FunctionHost extends ResourceClientHost {
  readonly multiEnvironment: boolean
  readonly soleOwners: boolean
}

/**
 * A call that is understood and bound to a server (undefined: to all of them), not yet sent. Hooks come in between
 * (reference: tool-calls, 9.6).
 */
export interface PreparedFunction {
  readonly key: ServerKey | undefined
  readonly arguments: ResourceArguments
  /** Sends. Rejects only when the caller's signal ends it. */
  run(limits?: RequestLimits): Promise<FunctionOutput>
}

/** A call that is bound, or the answer that refuses it before any hook runs. */
export type Preparation =
  | { readonly is: 'prepared'; readonly call: PreparedFunction }
  | { readonly is: 'refused'; readonly output: FunctionOutput }

/** In items, what a call about all servers is about (reference: tool-calls, 9.4). */
const ALL_SERVERS = 'codex'

/** The resource functions of one step: over what it captured, in the environments that were selected for it. */
export class ResourceFunctions {
  readonly tools: readonly FunctionTool[]
  readonly #scope: ResolutionScope
  readonly #client: ResourceClient

  constructor(servers: readonly CapturedServer[], selected: readonly string[], host: FunctionHost) {
    const { multiEnvironment, soleOwners } = host
    this.tools = servers.length === 0 ? [] : functionTools({ multiEnvironment })
    this.#scope = {
      servers: servers.map(({ key, config }) => ({ key, runsIn: config.environmentId })),
      selected,
      multiEnvironment,
      soleOwners,
    }
    this.#client = new ResourceClient(servers, host)
    Object.freeze(this)
  }

  /** @throws UnsupportedCallError the step has no such function */
  async call(name: string, args: JsonValue | undefined, limits?: RequestLimits): Promise<FunctionOutput> {
    const preparation = this.prepare(name, args)
    return preparation.is === 'refused' ? preparation.output : preparation.call.run(limits)
  }

  /** @throws UnsupportedCallError the step has no such function */
  prepare(name: string, args: JsonValue | undefined): Preparation {
    if (this.tools.length === 0 || !isResourceFunction(name)) throw new UnsupportedCallError('', name)
    try {
      return { is: 'prepared', call: this.#prepared(name, args) }
    } catch (error) {
      if (!(error instanceof ResourceFunctionError)) throw error
      return { is: 'refused', output: refusal(error) }
    }
  }

  #prepared(name: ResourceFunctionName, args: JsonValue | undefined): PreparedFunction {
    const { multiEnvironment } = this.#scope
    if (name === 'read_mcp_resource') return this.#read(readArguments(args, multiEnvironment))
    const given = listArguments(args, multiEnvironment)
    const { server, environmentId, cursor } = given
    const listing = LISTINGS[name]
    if (server !== undefined) return this.#listOne({ ...given, server }, listing)
    if (cursor !== undefined) throw withoutServer('cursor_without_server', 'cursor')
    if (environmentId !== undefined) throw withoutServer('environment_id_without_server', 'environment_id')
    return this.#listAll(given, listing)
  }

  #listAll(given: ResourceArguments, { kind, member }: FunctionListing): PreparedFunction {
    return this.#bound(undefined, given, async (limits) =>
      listAllText(member, await this.#client.listAll(kind, limits), this.#scope),
    )
  }

  #listOne(
    given: ResourceArguments & { readonly server: string },
    { kind, member }: FunctionListing,
  ): PreparedFunction {
    const key = resolveServer(given, this.#scope)
    return this.#bound(key, given, async (limits) =>
      listOneText(member, await this.#client.listPage(kind.list, key, given.cursor, limits), this.#scope),
    )
  }

  #read(given: ReadArguments): PreparedFunction {
    const key = resolveServer(given, this.#scope)
    return this.#bound(key, given, async (limits) =>
      readText(key, given.uri, await this.#client.read(key, given.uri, limits), this.#scope),
    )
  }

  #bound(
    key: ServerKey | undefined,
    given: ResourceArguments,
    send: (limits: RequestLimits) => Promise<string>,
  ): PreparedFunction {
    const about = { server: key?.name ?? ALL_SERVERS, environment: key?.environment ?? null }
    const run = async (limits: RequestLimits = {}): Promise<FunctionOutput> => {
      try {
        return { output: await send(limits), item: { ...about, status: 'completed' } }
      } catch (error) {
        if (limits.signal?.aborted === true || !(error instanceof ReeveError)) throw error
        return { output: error.message, error, item: { ...about, status: 'failed' } }
      }
    }
    return Object.freeze({ key, arguments: Object.freeze(given), run })
  }
}

interface FunctionListing {
  readonly kind: ListKind
  readonly member: ItemsMember
}

const LISTINGS = {
  list_mcp_resources: { kind: RESOURCES, member: 'resources' },
  list_mcp_resource_templates: { kind: TEMPLATES, member: 'resourceTemplates' },
} as const satisfies Partial<Record<ResourceFunctionName, FunctionListing>>

/** Calls that could mean no server are shown as items all the same; other refusals are not (reference: tool-calls, 9.4). */
const SHOWN = new Set(['cursor_without_server', 'environment_id_without_server'])

function withoutServer(code: string, argument: string): ResourceFunctionError {
  return new ResourceFunctionError(code, `${argument} can only be used when a server is specified`)
}

function refusal(error: ResourceFunctionError): FunctionOutput {
  const item = { server: ALL_SERVERS, environment: null, status: 'failed' } as const
  return { output: error.message, error, ...(SHOWN.has(error.code) && { item }) }
}
