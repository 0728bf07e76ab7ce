/**
 * Every error that Reeve raises on purpose. One class a cause, a stable snake_case `code` each, facts as fields, and a
 * message that says what to do next. Anything else that escapes is a defect.
 *
 * @example
 * ```ts
 * try { await step.call(call) } catch (error) {
 *   if (error instanceof ReeveError && error.code === 'stale_catalog') await thread.step()
 * }
 * ```
 */

/** The registration that an error concerns; the shape of `ServerKey`, without importing the room. */
export interface ErrorKey {
  readonly name: string
  readonly environment: string | null
}

export interface ReeveErrorFacts {
  /** The server registration concerned. */
  readonly key?: ErrorKey
  /** Where the fault is: `file:line:column`, `mcp_servers.x.command`, `server/tool`, a URL's origin. */
  readonly place?: string
  readonly cause?: unknown
  /** Machine-readable facts for `--json` and JSON-RPC `data`. Never a secret. */
  readonly data?: Readonly<Record<string, unknown>>
}

export class ReeveError extends Error {
  readonly code: string
  readonly key: ErrorKey | undefined
  readonly place: string | undefined
  readonly data: Readonly<Record<string, unknown>> | undefined

  constructor(code: string, message: string, facts: ReeveErrorFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause })
    this.name = new.target.name
    this.code = code
    this.key = facts.key
    this.place = facts.place
    this.data = facts.data
  }

  /** The `--json` form. */
  toJSON(): Record<string, unknown> {
    return {
      code: this.code,
      message: this.message,
      ...(this.key && { server: this.key.name, environment_id: this.key.environment }),
      ...(this.place !== undefined && { place: this.place }),
      ...(this.data && { data: this.data }),
    }
  }
}

/** `name`, or `name (environment <id>)` (reference: identity-and-names, 1). */
function shown({ name, environment }: ErrorKey): string {
  return environment === null ? name : `${name} (environment ${environment})`
}

// ---- identity ----

/** A server name outside `^[a-zA-Z0-9_:@/.-]+$` at startup (reference: identity-and-names, 1). */
export class InvalidServerNameError extends ReeveError {
  constructor(name: string, key?: ErrorKey) {
    super('invalid_server_name', `Invalid MCP server name '${name}': must match pattern ^[a-zA-Z0-9_:@/.-]+$`, {
      key: key ?? { name, environment: null },
    })
  }
}

/** No registration has this exact key. Environments that have one of its name, null for none, are in `data.choices`. */
export class UnknownServerError extends ReeveError {
  constructor(
    key: ErrorKey,
    facts: { readonly suggestion?: string; readonly choices?: readonly (string | null)[] } = {},
  ) {
    const { suggestion, choices = [] } = facts
    const hint = suggestion === undefined ? '' : `. Did you mean '${suggestion}'?`
    super('unknown_server', `unknown MCP server '${shown(key)}'${hint}`, {
      key,
      data: { ...(suggestion !== undefined && { suggestion }), ...(choices.length > 0 && { choices }) },
    })
  }
}

/** A name alone fits several registrations; the choices are in `data.choices`. */
export class AmbiguousServerError extends ReeveError {
  constructor(name: string, environments: readonly (string | null)[]) {
    const choices = environments.map((environment) => environment ?? 'thread-wide').join(', ')
    super('ambiguous_server', `MCP server '${name}' exists in several environments (${choices}): name one`, {
      key: { name, environment: null },
      data: { choices: environments },
    })
  }
}

// ---- configuration ----

/** A configuration file that cannot be read, parsed or accepted. `place` names file, line and member. */
export class ConfigError extends ReeveError {
  constructor(code: string, message: string, facts: ReeveErrorFacts & { readonly place: string }) {
    super(code, message, facts)
  }
}

// ---- protocol ----

/** The other side answered with a JSON-RPC error; relayed whole. */
export class RpcError extends ReeveError {
  readonly rpcCode: number
  readonly rpcData: unknown
  constructor(rpcCode: number, message: string, rpcData?: unknown, key?: ErrorKey) {
    super('rpc_error', message, { ...(key && { key }) })
    this.rpcCode = rpcCode
    this.rpcData = rpcData
  }
}

/** A peer broke the protocol: a frame over the limit, not JSON, not JSON-RPC, an answer nobody asked for. */
export class ProtocolViolationError extends ReeveError {
  constructor(message: string, facts: ReeveErrorFacts = {}) {
    super('protocol_violation', message, facts)
  }
}

/** The connection ended; the request may or may not have been carried out unless `data.sent` is false. */
export class TransportClosedError extends ReeveError {
  /** False when the request certainly never left this process. */
  readonly sent: boolean
  constructor(message: string, facts: ReeveErrorFacts & { readonly sent: boolean }) {
    super('transport_closed', message, facts)
    this.sent = facts.sent
  }
}

/** No answer inside the operation's time. The text cuts it to whole seconds, as the reference does. */
export class OperationTimeoutError extends ReeveError {
  constructor(operation: string, afterMs: number, key?: ErrorKey) {
    super('timeout', `timed out awaiting ${operation} after ${Math.trunc(afterMs / 1000)}s`, {
      ...(key && { key }),
      data: { operation, afterMs },
    })
  }
}

/** The caller's signal fired. */
export class CancelledError extends ReeveError {
  constructor(message = 'cancelled by the caller', facts: ReeveErrorFacts = {}) {
    super('cancelled', message, facts)
  }
}

// ---- transports ----

/** The server process could not be started, or ended; exit code, signal and last stderr lines are in `data`. */
export class ProcessFailedError extends ReeveError {
  constructor(message: string, facts: ReeveErrorFacts = {}) {
    super('process_failed', message, facts)
  }
}

/** An HTTP answer that is no MCP answer. `place` is the URL's origin and path, never its query. */
export class HttpStatusError extends ReeveError {
  readonly status: number
  constructor(status: number, message: string, facts: ReeveErrorFacts = {}) {
    super('http_status', message, facts)
    this.status = status
  }
}

/** 404 for a session that the server had given out (reference: connections, 10.4). */
export class SessionExpiredError extends ReeveError {
  constructor(facts: ReeveErrorFacts = {}) {
    super('session_expired', 'the server no longer knows this session', facts)
  }
}

/** 401, or an error text that says so. */
export class AuthRequiredError extends ReeveError {
  readonly challenge: string | undefined
  constructor(message: string, facts: ReeveErrorFacts & { readonly challenge?: string } = {}) {
    super('auth_required', message, facts)
    this.challenge = facts.challenge
  }
}

/** 403 with `insufficient_scope` (reference: connections, 10.6). */
export class InsufficientScopeError extends ReeveError {
  readonly scope: string | undefined
  constructor(facts: ReeveErrorFacts & { readonly scope?: string } = {}) {
    const asked = facts.scope === undefined ? '' : `: it asks for '${facts.scope}'`
    super('insufficient_scope', `the server refuses these scopes${asked}`, facts)
    this.scope = facts.scope
  }
}

/** A redirect that is not followed. Names only the origin of the target. */
export class RedirectRefusedError extends ReeveError {
  constructor(origin: string, reason: string, facts: ReeveErrorFacts = {}) {
    super('redirect_refused', `redirect to ${origin} refused: ${reason}`, facts)
  }
}

/** Something is larger than its limit: a line, a body, an SSE event, a listing, a cursor. */
export class LimitExceededError extends ReeveError {
  constructor(what: string, limit: number, facts: ReeveErrorFacts = {}) {
    super('limit_exceeded', `${what} exceeds the limit of ${limit}`, { ...facts, data: { what, limit, ...facts.data } })
  }
}

// ---- connections ----

/** A server did not come up. `message` is the display text of the reference (connections, 6). */
export class StartupFailedError extends ReeveError {
  readonly authRequired: boolean
  constructor(message: string, facts: ReeveErrorFacts & { readonly authRequired?: boolean } = {}) {
    super('startup_failed', message, facts)
    this.authRequired = facts.authRequired ?? false
  }
}

/** One startup took longer than all its phases together may take (reference: known-quirks, 25). */
export class StartupTimeoutError extends ReeveError {
  constructor(phase: 'opening' | 'handshake' | 'listing', afterMs: number, key?: ErrorKey) {
    const seconds = Math.round(afterMs / 1000)
    const text = {
      opening: `MCP client startup timed out after ${seconds}s`,
      handshake: `timed out handshaking with MCP server after ${seconds}s: deadline has elapsed`,
      listing: `request timed out: listing what the server offers took more than ${seconds}s`,
    }
    super('startup_timeout', text[phase], { ...(key && { key }), data: { phase, afterMs } })
  }
}

/** One or more required servers failed (reference: connections, 7.1). */
export class RequiredServersFailedError extends ReeveError {
  constructor(failures: readonly { readonly server: string; readonly error: string }[]) {
    const list = failures.map((failure) => `${failure.server}: ${failure.error}`).join('; ')
    super('required_servers_failed', `required MCP servers failed to initialize: ${list}`, { data: { failures } })
  }
}

/** The server is configured, and switched off. */
export class ServerDisabledError extends ReeveError {
  constructor(key: ErrorKey) {
    super('server_disabled', `MCP server '${shown(key)}' is disabled`, { key })
  }
}

/** The server is known but has no open connection, and the caller asked not to wait. */
export class NotConnectedError extends ReeveError {
  constructor(key: ErrorKey) {
    super('not_connected', `MCP server '${shown(key)}' is not connected`, { key })
  }
}

/** The tool's definition changed after the step captured it; take a new step (reference: connections, 7.5). */
export class StaleCatalogError extends ReeveError {
  constructor(key: ErrorKey, tool: string) {
    super('stale_catalog', `${key.name}/${tool}: the tool catalog changed after this step was taken`, {
      key,
      place: `${key.name}/${tool}`,
    })
  }
}

// ---- threads ----

/** The model named something that the step does not offer. Wire text as in the reference. */
export class UnsupportedCallError extends ReeveError {
  constructor(namespace: string, name: string) {
    super('unsupported_call', `unsupported call: ${namespace}${name}`, { place: `${namespace} ${name}` })
  }
}

/** A tool that the configuration filters away (reference: catalog, 1.3). */
export class ToolDisabledError extends ReeveError {
  constructor(key: ErrorKey, tool: string) {
    super('tool_disabled', `tool '${tool}' is disabled for MCP server '${shown(key)}'`, {
      key,
      place: `${key.name}/${tool}`,
    })
  }
}

/** Arguments or `_meta` that cannot be sent. */
export class InvalidArgumentsError extends ReeveError {
  constructor(message: string, facts: ReeveErrorFacts = {}) {
    super('invalid_arguments', message, facts)
  }
}

/**
 * A resource function was not carried out; `message` is what the model is told (reference: tool-calls, 9). Of the arguments:
 * `cursor_without_server`, `environment_id_without_server`, `environment_id_required`, `unknown_server`, `invalid_arguments`,
 * `missing_argument`, `empty_server`, `empty_uri`. Of the server: `server_unavailable`, `connection_lost`, else the code of
 * its `cause`. `data.choices` has the environments that own a server of that name.
 */
export class ResourceFunctionError extends ReeveError {
  constructor(code: string, message: string, facts: ReeveErrorFacts = {}) {
    super(code, message, facts)
  }
}

/** A call that needs an approval nobody could give. */
export class ApprovalRequiredError extends ReeveError {
  constructor(key: ErrorKey, tool: string, reason: string) {
    super('approval_required', `${key.name}/${tool} needs approval: ${reason}`, { key, place: `${key.name}/${tool}` })
  }
}

/**
 * A selection of environments or capability roots that cannot be (reference: catalog, 8.2 and 9.2); texts as there.
 * `data` names the environment, or the root and its path.
 */
export class SelectionError extends ReeveError {
  constructor(
    code: 'unknown_environment' | 'duplicate_environment' | 'relative_cwd' | 'relative_path',
    message: string,
    facts: ReeveErrorFacts = {},
  ) {
    super(code, message, facts)
  }
}

/** No state of a thread is kept under this id. */
export class UnknownThreadError extends ReeveError {
  constructor(id: string) {
    super('unknown_thread', `no thread '${id}' is kept here`, { data: { thread: id } })
  }
}

/** The thread is open in this runtime already. */
export class ThreadInUseError extends ReeveError {
  constructor(id: string) {
    super('thread_in_use', `thread '${id}' is open already`, { data: { thread: id } })
  }
}

/** No permission profile governs the server, so nothing is called there (reference: catalog, 6). */
export class NoPermissionProfileError extends ReeveError {
  constructor(key: ErrorKey, environment: string) {
    super(
      'no_permission_profile',
      `MCP server '${key.name}' runs in environment ${environment}, which this thread did not select: no permission profile governs it`,
      { key, data: { environment } },
    )
  }
}

/** The thread, connection or runtime was closed. */
export class ClosedError extends ReeveError {
  constructor(what: string) {
    super('closed', `${what} is closed`)
  }
}

/** A feature that this build or platform does not have. */
export class UnsupportedError extends ReeveError {
  constructor(message: string, facts: ReeveErrorFacts = {}) {
    super('unsupported', message, facts)
  }
}

// ---- environments ----

export type EnvironmentFault =
  | 'environment_unreachable'
  | 'environment_unauthorized'
  | 'environment_recovering'
  | 'environment_lost'

/**
 * An executor can't be used. `environment_unreachable`: no connection, or no answer to the handshake, in time.
 * `environment_unauthorized`: it turned our credentials away. `environment_recovering`: the connection was lost and is being
 * taken up again; try later. `environment_lost`: what ran there is gone. `data.environment` names it.
 */
export class EnvironmentError extends ReeveError {
  constructor(code: EnvironmentFault, environment: string, message: string, facts: ReeveErrorFacts = {}) {
    super(code, message, { ...facts, data: { environment, ...facts.data } })
  }
}

/** No environment has this id; those that are there are in `data.known`. */
export class UnknownEnvironmentError extends ReeveError {
  constructor(
    id: string,
    facts: { readonly known?: readonly string[]; readonly what?: string; readonly suggestion?: string } = {},
  ) {
    const { what = 'environment id', ...data } = facts
    const hint = data.suggestion === undefined ? '' : `. Did you mean '${data.suggestion}'?`
    super('unknown_environment', `unknown ${what} \`${id}\`${hint}`, { data: { environment: id, ...data } })
  }
}

// ---- broker ----

/**
 * The broker of a home can't be used. `broker_unreachable`: none answers, and none could be started in time.
 * `broker_untrusted`: its files or its proof are not ours. `broker_refused`: it turned this client away.
 * `broker_incompatible`: it speaks another protocol. `broker_lost`: it ended in the middle of something.
 */
export class BrokerError extends ReeveError {
  constructor(
    code: 'broker_unreachable' | 'broker_untrusted' | 'broker_refused' | 'broker_incompatible' | 'broker_lost',
    message: string,
    facts: ReeveErrorFacts = {},
  ) {
    super(code, message, facts)
  }
}

// ---- sandbox ----

export type SandboxRefusal =
  | 'no_state'
  | 'no_launcher'
  | 'malformed_state'
  | 'malformed_launcher'
  | 'conflicting_states'
  | 'inexact_state'
  | 'state_too_large'
  | 'authority_changed'
  | 'invalid_command'

/**
 * A server does not run a command, since it could not under the policy of the call. `no_state`, `no_launcher`: the client
 * sent none, or not to servers over this transport. `malformed_…`, `conflicting_states`, `inexact_state`,
 * `state_too_large`: it can't be handed on as it was sent. `authority_changed`: what runs was started under another one;
 * `data.changed` names what differs. `invalid_command`: there is nothing that can be run.
 */
export class SandboxRefusedError extends ReeveError {
  constructor(code: SandboxRefusal, message: string, facts: ReeveErrorFacts = {}) {
    super(code, message, facts)
  }
}

// ---- permissions ----

/** A permission profile or sandbox policy that can't be read (reference: authority, 8). `place` names the member at fault. */
export class PermissionProfileError extends ReeveError {
  constructor(message: string, facts: ReeveErrorFacts & { readonly place: string }) {
    super('invalid_permission_profile', message, facts)
  }
}

export type SandboxCommandFault =
  | 'invalid_sandbox_state'
  | 'sandbox_unsupported'
  | 'sandbox_unenforceable'
  | 'sandbox_busy'
  | 'sandbox_failed'

/**
 * `reeve sandbox` did not run a command. `invalid_sandbox_state`: the state can't be read. `sandbox_unsupported`: this
 * machine has nothing to enforce it with. `sandbox_unenforceable`: the profile asks for what can't be enforced here, and
 * nothing is run with less; `place` names the entry. `sandbox_busy`: another one holds a folder for too long.
 * `sandbox_failed`: the sandbox could not be set up, or its command could not be started.
 */
export class SandboxCommandError extends ReeveError {
  constructor(code: SandboxCommandFault, message: string, facts: ReeveErrorFacts = {}) {
    super(code, message, facts)
  }
}

// ---- first-party auth ----

/**
 * - `no_owning_context`: the thread has no first-party auth of its own, and there is no other to use.
 * - `registration_failed`: the running process could not register its key; `data.status`, `data.retryAtMs`.
 * - `credentials_changed_not_sent`: a refresh or login changed the credential under the operation; the connection is rebuilt.
 * - `signed_out`: the account signed out; calls work again after a login. `no_credential`: nobody has signed in.
 * - `auth_unavailable`: the current credential is not the one of the connection's account.
 * - `auth_revoked`: the account's permission was taken back; `network_policy_unavailable`: none governs the connection.
 * - `refresh_failed`: the access token can't be renewed; `data.reason`, and `data.permanent`.
 * - `runtime_environment_mismatch`: a staging instance for a production host, or the reverse.
 * - `assertion_not_possible`: the request can't carry an assertion and the mode allows nothing else.
 * - `assertion_failed`: no assertion could be made. `account_header_invalid`: the account id is no header value.
 * - `unsupported_endpoint`, `selection_not_possible`, `selection_mismatch`: the destination, or the organisation and project
 *   asked for, do not fit the credential.
 */
export type FirstPartyAuthFault =
  | 'registration_failed'
  | 'credentials_changed_not_sent'
  | 'signed_out'
  | 'no_credential'
  | 'auth_unavailable'
  | 'auth_revoked'
  | 'network_policy_unavailable'
  | 'refresh_failed'
  | 'runtime_environment_mismatch'
  | 'assertion_not_possible'
  | 'assertion_failed'
  | 'account_header_invalid'
  | 'unsupported_endpoint'
  | 'selection_not_possible'
  | 'selection_mismatch'
  | 'no_owning_context'

/**
 * A request to the first-party backend that was not sent, since it could not carry the credential that it should
 * (reference: runtime-auth, 2 to 8 and 14). `message` is the observed text where there is one.
 */
export class FirstPartyAuthError extends ReeveError {
  declare readonly code: FirstPartyAuthFault
  /** The request never left. */
  readonly sent = false
  /** True: the same operation may be repeated once on a connection that is built anew. */
  readonly mayRetry: boolean
  /** True: may pass by itself; false: needs the user, the host or another configuration. */
  readonly transient: boolean

  constructor(
    code: FirstPartyAuthFault,
    message: string,
    facts: ReeveErrorFacts & { readonly mayRetry?: boolean; readonly transient?: boolean } = {},
  ) {
    super(code, message, facts)
    this.mayRetry = facts.mayRetry ?? false
    this.transient = facts.transient ?? false
  }
}

/**
 * A credential file that can't be read or written. `place` is the file, and the member where one is at fault.
 * `keychain_unavailable`: there is no keychain, it is locked, or it refuses us; `place` names it.
 */
export class CredentialStoreError extends ReeveError {
  constructor(
    code:
      | 'credentials_unreadable'
      | 'credentials_unwritable'
      | 'credentials_invalid'
      | 'credentials_locked'
      | 'keychain_unavailable',
    message: string,
    facts: ReeveErrorFacts & { readonly place: string },
  ) {
    super(code, message, facts)
  }
}

// ---- OAuth for servers ----

/**
 * Somebody logged in to the server as another account than this connection speaks for. Nothing was sent: what was begun
 * for one account is not gone on with as another. A new step has a connection of the new account.
 */
export class AccountChangedError extends ReeveError {
  /** The request never left. */
  readonly sent = false
  constructor(message: string, facts: ReeveErrorFacts = {}) {
    super('account_changed', message, facts)
  }
}

export type OAuthFault =
  | 'oauth_unsupported'
  | 'oauth_invalid_metadata'
  | 'oauth_resource_mismatch'
  | 'oauth_issuer_mismatch'
  | 'oauth_insecure_endpoint'
  | 'oauth_client_unknown'
  | 'oauth_registration_failed'
  | 'oauth_callback_refused'
  | 'oauth_callback_unavailable'
  | 'oauth_denied'
  | 'oauth_scope_refused'
  | 'oauth_token_refused'
  | 'oauth_invalid_answer'
  | 'oauth_unreachable'

/**
 * Something between us and an authorization server went wrong; `place` names it by origin and path.
 * `oauth_unsupported`: the server names none. `oauth_invalid_metadata`, `oauth_resource_mismatch`, `oauth_issuer_mismatch`,
 * `oauth_insecure_endpoint`: what it publishes can't be trusted. `oauth_client_unknown`, `oauth_registration_failed`: it
 * takes us for no client. `oauth_callback_refused`: a callback is not of this login. `oauth_callback_unavailable`: nothing
 * can listen for it. `oauth_denied`: the user or the server said no; `data.error` has the code. `oauth_scope_refused`: more
 * scopes were granted and did not help. `oauth_token_refused`: no token; `data.permanent` says that asking again is in
 * vain. `oauth_invalid_answer`, `oauth_unreachable`: no usable answer, or none.
 */
export class OAuthError extends ReeveError {
  constructor(code: OAuthFault, message: string, facts: ReeveErrorFacts = {}) {
    super(code, message, facts)
  }
}

// ---- hooks ----

export type HookRefusal =
  | 'hook_blocked'
  | 'hook_denied'
  | 'hook_failed'
  | 'hooks_disagree'
  | 'hook_changed_owner'
  | 'rewrite_not_object'
  | 'arguments_not_object'

/**
 * A hook keeps a call from being made (reference: authority, 7.4 and 7.5). `hook_blocked`: PreToolUse says no.
 * `hook_denied`: PermissionRequest does. `hook_failed`: one that has to answer could not. `hooks_disagree`: two rewrite
 * the arguments in different ways. The others: what it made of the arguments can't be sent; `data.field` names the member
 * that selects the environment.
 */
export class HookRefusedError extends ReeveError {
  declare readonly code: HookRefusal

  constructor(code: HookRefusal, message: string, facts: ReeveErrorFacts = {}) {
    super(code, message, facts)
  }
}

// ---- audit ----

/**
 * A call can't be recorded, and the configuration wants no call without (`[audit] mode = "strict"`). `data.sent`: whether the
 * call was made all the same; its result is then withheld.
 */
export class AuditNotWrittenError extends ReeveError {
  constructor(call: 'sent' | 'unsent', reason: string, cause?: unknown) {
    super('audit_not_written', `calls can't be recorded: ${reason}`, { cause, data: { sent: call === 'sent' } })
  }
}

// ---- file parameters ----

export type FileParameterFault =
  | 'file_unreadable'
  | 'file_denied'
  | 'file_too_large'
  | 'file_changed'
  | 'too_many_files'
  | 'file_upload_failed'

/**
 * An argument that takes a file can't be given one, so the call was not sent; `place` is the server, tool and argument
 * (reference: tool-calls, 7). `file_unreadable`: nothing is there, or no plain file. `file_denied`: the permission profile of
 * the owning environment does not let it be read. `file_changed`: it became another one while it was read.
 * `file_upload_failed`: a step of the upload failed; `data.step`, and `data.status` where there was an answer.
 */
export class FileParameterError extends ReeveError {
  constructor(code: FileParameterFault, message: string, facts: ReeveErrorFacts & { readonly place: string }) {
    super(code, message, facts)
  }
}
