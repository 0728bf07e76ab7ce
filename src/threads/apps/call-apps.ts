import type { CallAuthority } from '../../authority/index.js'
import { isHostOwnedApps } from '../../catalog/index.js'
import type { ApprovalMode } from '../../config/index.js'
import { type CapturedServer, DEFAULT_TOOL_TIMEOUT } from '../../connections/index.js'
import { OperationTimeoutError, ReeveError } from '../../errors.js'
import type { JsonObject } from '../../protocol/index.js'
import { ELICIT, type HostChannel } from '../host-channel.js'
import type { OwningAuth } from '../owning-auth.js'
import type { CallOptions, ThreadOptions } from '../types.js'
import { authElicitation, connectorAuthFailure, retryResult } from './auth-failure.js'
import { approvalConnector, member } from './connector.js'
import { owningThread, type RuntimeContext } from './owning-thread.js'
import { appApprovalMode, isAppToolEnabled } from './policy.js'
import type { AppsSettings } from './thread-apps.js'
import {
  ENTITLEMENT_CONTEXT,
  LOOKUP_MS,
  mayHaveTrustedAccess,
  trustedAccess,
  wantsTrustedAccess,
} from './trusted-access.js'

export interface CallAppsHost {
  readonly auth: OwningAuth | undefined
  readonly runtimeContext: RuntimeContext
  /** As they are now. */
  readonly settings: () => AppsSettings
  readonly channel: Pick<HostChannel, 'ask' | 'isOpen'>
  readonly options: Pick<ThreadOptions, 'client' | 'elicitations'>
  /** Time of calls stands still until what it returns is called. */
  readonly hold: () => () => void
  /** Lists the tools of the apps anew. */
  readonly refresh: (signal: AbortSignal | undefined) => Promise<unknown>
  readonly warn: (server: CapturedServer['key'], error: unknown) => void
}

type Server = Pick<CapturedServer, 'key' | 'config' | 'source'>

/** A call of a tool, once it may be made. */
export interface AppCall {
  readonly server: Server
  readonly definition: JsonObject
  readonly authority: CallAuthority
  readonly arguments: JsonObject | undefined
}

/** What a call is told of the account, and how much of its time that took. */
export interface Entitlements {
  readonly member: typeof ENTITLEMENT_CONTEXT
  readonly value: JsonObject
  readonly spentMs: number
}

/** What calls of hosted apps have that others have not. */
export class CallApps {
  readonly #host: CallAppsHost

  constructor(host: CallAppsHost) {
    this.#host = host
  }

  /** Those that the policies leave. */
  enabled(server: Server, tools: readonly JsonObject[]): readonly JsonObject[] {
    if (!isHostOwnedApps(server)) return tools
    const { policies } = this.#host.settings()
    return policies.size === 0 ? tools : tools.filter((tool) => isAppToolEnabled(policies, tool))
  }

  /** @throws ReeveError `app_disabled` */
  refuseDisabled(server: Server, definition: JsonObject): void {
    if (!isHostOwnedApps(server) || isAppToolEnabled(this.#host.settings().policies, definition)) return
    const { key } = server
    const tool = String(definition.name)
    const message = `tool '${tool}' is disabled by the configuration of its app`
    throw new ReeveError('app_disabled', message, { key, place: `${key.name}/${tool}` })
  }

  /** As the policy of its app has it; undefined where that says nothing. */
  approvalMode(
    server: Pick<CapturedServer, 'key' | 'config'> & Partial<Pick<CapturedServer, 'source' | 'tools'>>,
    tool: string,
  ): { readonly mode: ApprovalMode | undefined } | undefined {
    const { key, config, source, tools = [] } = server
    if (source === undefined || !isHostOwnedApps({ key, config, source })) return undefined
    const definition = tools.find(({ name }) => name === tool)
    return { mode: definition && appApprovalMode(this.#host.settings().policies, definition) }
  }

  /** Whose tool a call is of, for whoever is asked about it. */
  connectorOf(server: Server, definition: JsonObject) {
    return isHostOwnedApps(server) ? approvalConnector(definition) : undefined
  }

  /** What only the runtime says in such a call (reference: tool-calls, 5.1). */
  metaOf(server: CapturedServer, tool: string, callId: string): { readonly _codex_apps?: JsonObject } {
    if (!isHostOwnedApps(server)) return {}
    const own = member(server.tools.find(({ name }) => name === tool)?._meta, '_codex_apps')
    const descriptor = typeof own === 'object' && own !== null && !Array.isArray(own) ? own : {}
    return { _codex_apps: { ...descriptor, call_id: callId } }
  }

  /** What asks the backend for the entitlements that a call has to be told; undefined for most. */
  entitlements(call: AppCall, { signal, timeoutMs }: CallOptions): (() => Promise<Entitlements>) | undefined {
    const { auth, runtimeContext } = this.#host
    const { server, definition, arguments: args } = call
    if (auth === undefined || !wantsTrustedAccess(server, definition, args) || !mayHaveTrustedAccess(auth))
      return undefined
    return async () => {
      const owner = owningThread(auth, runtimeContext, 'trusted access')
      const limit = Math.min(timeoutMs ?? LOOKUP_MS, server.config.toolTimeoutMs ?? DEFAULT_TOOL_TIMEOUT, LOOKUP_MS)
      const begun = performance.now()
      const bound = AbortSignal.timeout(Math.ceil(limit))
      const value = await trustedAccess(owner, signal === undefined ? bound : AbortSignal.any([signal, bound]))
      const spentMs = performance.now() - begun
      if (spentMs >= limit && limit < LOOKUP_MS) throw new OperationTimeoutError('tools/call', limit, server.key)
      return { member: ENTITLEMENT_CONTEXT, value, spentMs }
    }
  }

  /**
   * What a call comes to: its result, or, where its app wants a sign-in and somebody gave it, that it has to be made again
   * (reference: auth, 5.3).
   */
  async settled(
    call: Omit<AppCall, 'arguments'>,
    result: JsonObject,
    { signal, origin }: CallOptions,
  ): Promise<JsonObject> {
    const { server, definition, authority } = call
    if (!isHostOwnedApps(server) || !this.#mayAsk(authority)) return result
    const failure = connectorAuthFailure(definition, result)
    if (failure === undefined) return result
    const { key } = server
    const params = authElicitation(failure, authority.callId)
    const release = this.#host.hold()
    try {
      const question = { key, method: ELICIT, params, origin, isApproval: true as const }
      const { action } = await this.#host.channel.ask(question, authority.turnId, signal ?? NEVER)
      if (action !== 'accept') return result
      await this.#host.refresh(signal).catch((error: unknown) => this.#host.warn(key, error))
      return retryResult(failure, result)
    } catch (error) {
      // The result is the server's answer, whatever became of the question.
      this.#host.warn(key, error)
      return result
    } finally {
      release()
    }
  }

  #mayAsk({ policy }: CallAuthority): boolean {
    const { settings, channel, options } = this.#host
    if (!settings().authElicitation || !channel.isOpen || options.elicitations?.declineAll === true) return false
    if (policy === 'never') return false
    if (policy !== null && typeof policy === 'object' && !policy.granular.mcp_elicitations) return false
    const elicits = options.client?.capabilities?.elicitation
    return options.elicitations?.onQuestion !== undefined || member(elicits, 'url') !== undefined
  }
}

const NEVER = new AbortController().signal
