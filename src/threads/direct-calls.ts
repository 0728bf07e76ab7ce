import { isDeepStrictEqual } from 'node:util'
import type { CallAuthority } from '../authority/index.js'
import type { ServerConfig } from '../config/index.js'
import {
  type CapturedServer,
  type ConnectionManager,
  DEFAULT_TOOL_TIMEOUT,
  isToolEnabled,
} from '../connections/index.js'
import {
  NoPermissionProfileError,
  ServerDisabledError,
  StaleCatalogError,
  ToolDisabledError,
  UnknownServerError,
} from '../errors.js'
import { HOSTED_APPS_NAME, type ServerKey } from '../identity/index.js'
import type { JsonObject } from '../protocol/index.js'
import type { CallApprovals } from './approval.js'
import type { CallApps } from './apps/call-apps.js'
import type { CallAudit, CallRecord } from './call-audit.js'
import { callAuthority, type IssuedAuthority } from './call-authority.js'
import type { CallHooks, HookedCall } from './call-hooks.js'
import { outgoing, payloadOf } from './call-lease.js'
import type { LauncherSource } from './call-sandbox.js'
import type { CallFiles } from './files/call-files.js'
import { asksEachTime, managedRule } from './managed-rules.js'
import { withProgress } from './meta.js'
import { OPERATION_TIMEOUT, type Requester } from './operations.js'
import type { CallOptions, ServerSelector, Thread } from './types.js'

/** Only a name: what is done about it is of no consequence to another server that has it. */
function isHostedApps({ name, environment }: ServerKey): boolean {
  return name === HOSTED_APPS_NAME && environment === null
}

/** What a thread lends to what is asked of its servers outside any step. */
export interface DirectHost {
  readonly threadId: string
  readonly manager: ConnectionManager
  readonly approvals: CallApprovals
  readonly audit: CallAudit
  readonly files: CallFiles
  readonly apps: CallApps
  readonly hooks: Pick<CallHooks, 'direct'>
  readonly launchers: LauncherSource
  /** Refuses once the thread is closed. */
  readonly locate: (selector: ServerSelector, signal: AbortSignal | undefined) => Promise<ServerKey>
  readonly configOf: (key: ServerKey) => ServerConfig | undefined
  readonly issue: (server: Pick<CapturedServer, 'key' | 'config' | 'catalogRevision'>) => IssuedAuthority | undefined
}

type ToolToCall = Parameters<Thread['callTool']>[0]

/** `hook`: what a hook calls needs no approval (reference: authority, 7.7). */
type DirectApproval = 'asked' | 'hook'

/** A server as it is registered when something is asked of it, and what that is issued with. */
interface Located {
  readonly key: ServerKey
  readonly config: ServerConfig
  readonly issued: IssuedAuthority | undefined
}

/** A call by server and raw tool name, once it is known whose it is. */
interface DirectCall {
  readonly key: ServerKey
  readonly config: ServerConfig
  /** Undefined: no profile governs the server. */
  readonly authority: CallAuthority | undefined
  readonly call: ToolToCall
  readonly options: CallOptions
  readonly approval: DirectApproval
}

/** Calls and requests of one thread that belong to no step (reference: tool-calls, 10). */
export class DirectCalls {
  readonly #host: DirectHost

  constructor(host: DirectHost) {
    this.#host = host
  }

  async tool(call: ToolToCall, options: CallOptions, approval: DirectApproval): Promise<JsonObject> {
    const { key, config, issued } = await this.#located(call, options.signal)
    const { tool } = call
    // How calls of an app are approved is known once it is known which app it is.
    const server = isHostedApps(key) ? await this.#host.manager.captureOne(key, options.signal) : { key, config }
    const authority = issued && callAuthority(issued, this.#host.approvals.modeOf(server, tool, issued))
    const made = { key, config, authority, call, options, approval }
    return this.#host.audit.tool({ key, config, tool, authority, arguments: call.arguments }, (record) =>
      this.#hooked(made, record),
    )
  }

  async request(...[selector, { kind, method, name, params }, options]: Parameters<Requester>): Promise<JsonObject> {
    const { key, config, issued } = await this.#located(selector, options.signal)
    const authority = issued && callAuthority(issued, 'approve')
    const { _meta, ...rest } = params
    const toRecord = { operation: kind, key, config, tool: name, authority, arguments: rest }
    return this.#host.audit.tool(toRecord, async (record) => {
      const client = await this.#host.manager.ready(key, options.signal)
      record?.decided('run', 'mode')
      record?.sending()
      return client.request(method, params, { timeoutMs: OPERATION_TIMEOUT, ...options })
    })
  }

  async #located(selector: ServerSelector, signal: AbortSignal | undefined): Promise<Located> {
    const key = await this.#host.locate(selector, signal)
    const config = this.#host.configOf(key)
    if (config === undefined) throw new UnknownServerError(key)
    const catalogRevision = this.#host.manager.catalogRevision(key)
    return { key, config, issued: this.#host.issue({ key, config, catalogRevision }) }
  }

  /** What a hook calls has none: they would call each other. */
  #hooked(direct: DirectCall, record: CallRecord): Promise<JsonObject> {
    const { authority, call, options, approval } = direct
    if (approval === 'hook' || authority === undefined)
      return this.#make(direct, { arguments: call.arguments, permission: undefined }, record)
    const { tool } = call
    return this.#host.hooks.direct({ authority, tool, arguments: call.arguments }, options, record, (hooked) =>
      this.#make(direct, hooked, record),
    )
  }

  async #make(direct: DirectCall, hooked: HookedCall, record: CallRecord): Promise<JsonObject> {
    const { key, config, authority, call, approval } = direct
    const { tool } = call
    const payload = payloadOf(`${key.name}/${tool}`, hooked.arguments, call._meta, { threadId: this.#host.threadId })
    if (!isToolEnabled(config, tool)) throw new ToolDisabledError(key, tool)
    if (!config.enabled) throw new ServerDisabledError(key)
    if (authority === undefined) throw new NoPermissionProfileError(key, config.environmentId)
    const { approvals } = this.#host
    const server = await approvals.bound(await this.#captured(direct), tool, authority, direct.options.signal)
    const prepared = server.tools.some(({ name }) => name === tool) ? server.prepareCall(tool) : undefined
    const definition = prepared?.binding.definition ?? { name: tool }
    this.#host.apps.refuseDisabled(server, definition)
    // What requirements want to be asked about is asked about whoever calls it.
    const isFree = approval === 'hook' && !asksEachTime(managedRule(config, tool))
    if (isFree) record?.decided('run', 'hook')
    const toApprove = { tool, definition, authority, payload, record, permission: hooked.permission }
    const remember = isFree ? undefined : await approvals.approve(server, toApprove, direct.options)
    const allowed = { server, tool, definition, authority, payload, remember }
    const { sent, prepare, options } = outgoing(allowed, this.#host, withProgress(direct.options))
    record?.sending()
    if (prepared !== undefined) {
      const result = await prepared.run(sent, { ...options, ...(prepare && { prepare }) })
      return this.#host.apps.settled(allowed, result, direct.options)
    }
    // A name that the server never listed: it may know it all the same.
    const client = await this.#host.manager.ready(key, options.signal)
    const { params, spentMs: _, ...told } = (await prepare?.(client)) ?? sent
    return client.request(
      'tools/call',
      { ...params, name: tool, ...told },
      { timeoutMs: server.config.toolTimeoutMs ?? DEFAULT_TOOL_TIMEOUT, ...options },
    )
  }

  /** @throws StaleCatalogError another configuration, under another authority, while the server came up */
  async #captured({ key, config, call: { tool }, options }: DirectCall): Promise<CapturedServer> {
    const offered = await this.#host.manager.captureOne(key, options.signal)
    if (!isDeepStrictEqual(offered.config, config)) throw new StaleCatalogError(key, tool)
    return offered
  }
}
