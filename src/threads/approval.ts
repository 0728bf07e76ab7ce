import { isDeepStrictEqual } from 'node:util'
import {
  type ApprovalAsks,
  type ApprovalCall,
  type ApprovalDecision,
  Approver,
  bindingOf,
  type CallAuthority,
  type DurableApprovals,
  NOT_ASKED,
  type PromptFacts,
  promptMessage,
  promptMeta,
  type ReviewSettings,
  subjectOf,
  underManagedMode,
} from '../authority/index.js'
import { isHostOwnedApps, type RegistrationSource } from '../catalog/index.js'
import { type ApprovalMode, shellWord } from '../config/index.js'
import { type CapturedServer, sameExecutionContract } from '../connections/index.js'
import { ApprovalRequiredError, ReeveError, RpcError, StaleCatalogError } from '../errors.js'
import { displayKey, type ServerKey } from '../identity/index.js'
import type { JsonObject } from '../protocol/index.js'
import type { CallApps } from './apps/call-apps.js'
import { approvalConnector } from './apps/connector.js'
import type { CallRecord } from './call-audit.js'
import type { StepApprovals } from './call-authority.js'
import type { HookedCall } from './call-hooks.js'
import { ELICIT, type HostChannel } from './host-channel.js'
import { readProfile } from './judged-by.js'
import { asksEachTime, type ManagedRule, managedRule } from './managed-rules.js'
import type { ApprovalAnswer, CallOptions, ThreadOptions } from './types.js'

/** What a thread decides about its calls with. */
export interface ApprovalHost {
  readonly multiEnvironment: boolean
  readonly primaryEnvironment: () => string | null
  readonly durable: DurableApprovals
  /** A server once it is up, as it is then. */
  readonly live: (key: ServerKey, signal: AbortSignal | undefined) => Promise<CapturedServer>
  /** Asks the thread's client. */
  readonly channel: Pick<HostChannel, 'ask' | 'isOpen'>
  readonly review: ReviewSettings
  readonly options: Pick<ThreadOptions, 'reviewer' | 'compatibility' | 'onApproval' | 'client' | 'approvalTimeoutMs'>
  /** Of what could not be kept. */
  readonly warn: (key: ServerKey, error: unknown) => void
  /** What hosted apps have of their own. */
  readonly apps: Pick<CallApps, 'approvalMode' | 'connectorOf'>
}

/** A call that is about to be made. */
export interface CallToApprove {
  readonly tool: string
  readonly definition: JsonObject
  readonly authority: CallAuthority
  readonly payload: { readonly arguments?: JsonObject }
  /** Who is told what was decided, whatever it is. */
  readonly record: CallRecord
  /** The hooks that may decide before anybody is asked. */
  readonly permission: HookedCall['permission']
}

/** The server of a call, as its step captured it. */
type Server = Pick<CapturedServer, 'key' | 'config' | 'source'>

/** Asks about the calls of one thread where the configuration, or the thread's policy, wants it. */
export class CallApprovals {
  readonly #host: ApprovalHost
  readonly #approver: Approver

  constructor(host: ApprovalHost) {
    this.#host = host
    const { durable, review, options } = host
    const { compatibility = false, approvalTimeoutMs: answerTimeoutMs } = options
    this.#approver = new Approver({ durable, compatibility, review, ...(answerTimeoutMs && { answerTimeoutMs }) })
  }

  /**
   * The server that a call is bound to. Where somebody may be asked, that is one that is up: what is known of a tool from
   * a cache is no more than its execution contract, and nothing to approve, nor to recognise what was approved.
   *
   * @throws StaleCatalogError the tool is no longer the one that was offered
   */
  async bound(
    server: CapturedServer,
    tool: string,
    authority: CallAuthority,
    signal: AbortSignal | undefined,
  ): Promise<CapturedServer> {
    if (server.live || this.#runs(server, tool, authority)) return server
    const live = await this.#host.live(server.key, signal)
    const [before, now] = [server, live].map(({ tools }) => tools.find(({ name }) => name === tool))
    const isSame = before === undefined || (now !== undefined && sameExecutionContract(before, now))
    // A configuration of since then is another step's.
    if (!isSame || !isDeepStrictEqual(live.config, server.config)) throw new StaleCatalogError(server.key, tool)
    return live
  }

  /**
   * Lets a call through, or asks first; `origin` is the request that it belongs to, for whoever is asked.
   *
   * @returns what keeps what was allowed beyond this call, for when it is made; undefined where that is nothing
   * @throws ApprovalRequiredError when nobody can be asked, or the answer is no; nothing was sent
   * @throws CancelledError
   */
  async approve(
    server: Server,
    call: CallToApprove,
    { signal, origin }: Pick<CallOptions, 'signal' | 'origin'>,
  ): Promise<(() => void) | undefined> {
    if (this.#runs(server, call.tool, call.authority)) {
      call.record?.decided('run', 'mode')
      return undefined
    }
    const asked = this.#callOf(server, call)
    const decision = await this.#approver.decide(asked, this.#asks(asked, origin, call.permission), signal)
    call.record?.decided(decision.outcome, decision.by)
    if (decision.outcome !== 'run') throw refusal(asked, decision, managedRule(server.config, call.tool))
    return decision.grant === null ? undefined : () => this.#remember(server.key, decision)
  }

  /** How calls of a tool are approved that are issued now. */
  modeOf(
    server: Pick<Server, 'key' | 'config'> & Partial<Pick<CapturedServer, 'source' | 'tools'>>,
    tool: string,
    { policy }: Pick<StepApprovals, 'policy'>,
  ): ApprovalMode {
    const app = this.#host.apps.approvalMode(server, tool)
    const byApp = app?.mode ?? (policy === null ? 'approve' : 'auto')
    const mode = app === undefined ? appliedMode(server, tool, policy !== null) : byApp
    return underManagedMode(mode, managedRule(server.config, tool).mode)
  }

  #runs({ config }: Pick<Server, 'config'>, tool: string, { approval, strictReview }: CallAuthority): boolean {
    return approval === 'approve' && !strictReview && !managedRule(config, tool).strictReview
  }

  #remember(key: ServerKey, decision: ApprovalDecision): void {
    const { problem } = this.#approver.remember(decision)
    if (problem !== undefined) this.#host.warn(key, problem)
  }

  #callOf(server: Server, call: CallToApprove): ApprovalCall {
    const { config, source } = server
    const { tool, definition, authority, payload } = call
    const connector = this.#host.apps.connectorOf(server, definition)
    const { arguments: args } = payload
    const { multiEnvironment, primaryEnvironment } = this.#host
    const { mode: managedMode, strictReview } = managedRule(config, tool)
    return {
      authority,
      permissions: readProfile(authority.profile),
      tool,
      definition,
      ...(connector && { connector }),
      ...(args && { arguments: args }),
      ...(managedMode && { managedMode }),
      strictReview: strictReview || authority.strictReview,
      endpoint: config,
      pluginId: pluginOf(source),
      primaryEnvironment: primaryEnvironment(),
      multiEnvironment,
      reviewer: authority.reviewer,
    }
  }

  /** The thread's own host first; else its client, if that shows forms. */
  #asks(
    { authority, arguments: args, managedMode: mode, strictReview = false }: ApprovalCall,
    origin: unknown,
    permission: HookedCall['permission'],
  ): ApprovalAsks {
    const { key } = authority
    const { channel, options } = this.#host
    const { onApproval, client, reviewer } = options
    const reviews = {
      ...(reviewer && { reviewer }),
      ...(permission && {
        hooks: (_: ApprovalCall, stop: AbortSignal) => permission(stop, asksEachTime({ mode, strictReview })),
      }),
    }
    if (onApproval !== undefined) {
      return {
        ...reviews,
        user: async (prompt, stop) => answerOf(await onApproval({ ...prompt, arguments: args }, stop)),
      }
    }
    if (!channel.isOpen || !showsForms(client?.capabilities)) return { ...reviews }
    return {
      ...reviews,
      user: async (prompt, stop) => {
        const question = { key, method: ELICIT, params: elicitation(prompt), origin, isApproval: true as const }
        try {
          return await channel.ask(question, authority.turnId, stop)
        } catch (error) {
          // Of the client's own, which then shows no such form after all.
          if (error instanceof RpcError) return NOT_ASKED
          throw error
        }
      },
    }
  }
}

/**
 * A listed tool as an approval would be given for it now.
 *
 * @throws ReeveError `unknown_tool`
 */
export function approvalTarget({ key, config, source, tools }: Server & Pick<CapturedServer, 'tools'>, tool: string) {
  const definition = tools.find(({ name }) => name === tool)
  if (definition === undefined) {
    throw new ReeveError('unknown_tool', `MCP server '${displayKey(key)}' offers no tool '${tool}'`, { key })
  }
  const pluginId = pluginOf(source)
  const connector = isHostOwnedApps({ key, config, source }) ? approvalConnector(definition) : undefined
  const managed = managedRule(config, tool)
  return Object.freeze({
    subject: subjectOf({ authority: { key }, tool, pluginId, ...(connector && { connector }) }),
    binding: bindingOf(config, definition),
    demandedBy: asksEachTime(managed) ? managed.sources : [],
  })
}

function pluginOf(source: RegistrationSource): string | null {
  return 'plugin' in source ? source.plugin.id : null
}

/**
 * Without a policy of the thread's own, calls run as long as nobody has configured otherwise: those who come through a
 * gateway have approvals of their own. Then `prompt` and `writes` ask, and `auto` where it is a thread-wide server's: on
 * one that an environment brought it may be what was left of its own `approve`.
 */
function appliedMode({ key, config }: Pick<Server, 'key' | 'config'>, tool: string, hasPolicy: boolean): ApprovalMode {
  const own = Object.hasOwn(config.tools, tool) ? config.tools[tool]?.approvalMode : undefined
  const configured = own ?? config.defaultToolsApprovalMode
  if (hasPolicy) return configured ?? 'auto'
  return configured === undefined || (configured === 'auto' && key.environment !== null) ? 'approve' : configured
}

function refusal(
  { authority, tool }: ApprovalCall,
  decision: Exclude<ApprovalDecision, { readonly outcome: 'run' }>,
  managed: ManagedRule,
): ApprovalRequiredError {
  const { key, approval } = authority
  const { text } = decision
  if (decision.by !== 'nobody') return new ApprovalRequiredError(key, tool, text)
  if (asksEachTime(managed))
    return new ApprovalRequiredError(key, tool, `${text}; requirements demand it: ${managed.sources.join(', ')}`)
  const environment = key.environment === null ? '' : ` --env ${shellWord(key.environment)}`
  const allow = `reeve approvals allow ${shellWord(key.name)} ${shellWord(tool)}${environment}`
  return new ApprovalRequiredError(
    key,
    tool,
    `${text} (its approval mode is '${approval}'); \`${allow}\` allows it as it is now where nobody can be asked`,
  )
}

/** As a server of the client's would ask: an empty form, to say yes or no to. */
function elicitation(prompt: PromptFacts): JsonObject {
  return {
    message: promptMessage(prompt),
    requestedSchema: { type: 'object', properties: {} },
    _meta: promptMeta(prompt),
  }
}

/** Clients of before there were other modes say `{}`. */
function showsForms(capabilities: JsonObject | undefined): boolean {
  const elicits = capabilities?.elicitation
  if (typeof elicits !== 'object' || elicits === null || Array.isArray(elicits)) return false
  return Object.hasOwn(elicits, 'form') || !Object.hasOwn(elicits, 'url')
}

function answerOf(answer: ApprovalAnswer): JsonObject {
  switch (answer) {
    case 'approve':
      return { action: 'accept' }
    case 'approve_for_session':
      return { action: 'accept', _meta: { persist: 'session' } }
    case 'approve_always':
      return { action: 'accept', _meta: { persist: 'always' } }
    default:
      return { action: 'decline' }
  }
}
