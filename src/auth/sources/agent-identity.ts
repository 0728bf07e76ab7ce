import { sign } from 'node:crypto'
import { FirstPartyAuthError } from '../../errors.js'
import type { Clock } from '../clock.js'
import type { AuthHttp } from '../http/auth-http.js'
import { agentKey } from './agent-record.js'
import { asRecord, text } from './claims.js'
import { type AgentIdentityCredential, credentialKey } from './credential.js'

export const AGENT_AUTH_API = 'https://auth.openai.com/api/accounts'
const REGISTER_MS = 30_000

/**
 * The assertion of an older agent identity: base64url of compact JSON, signed anew for every request. Not the runtime
 * assertion, though it goes out under the same scheme word (reference: auth, 2.3).
 *
 * @param wallMs the time that it states, in whole seconds.
 */
export function agentAssertion(credential: AgentIdentityCredential, taskId: string, wallMs: number): string {
  const timestamp = secondsUtc(wallMs)
  const signature = signed(credential, `${credential.runtimeId}:${taskId}:${timestamp}`)
  const blob = { agent_runtime_id: credential.runtimeId, signature, task_id: taskId, timestamp }
  return Buffer.from(JSON.stringify(blob)).toString('base64url')
}

/** Task ids by identity: registered by the first request that needs one, shared by all. */
export class AgentTasks {
  readonly #options: { readonly http: AuthHttp; readonly clock: Clock; readonly authApi?: string }
  readonly #tasks = new Map<string, Promise<string>>()

  constructor(options: { readonly http: AuthHttp; readonly clock: Clock; readonly authApi?: string }) {
    this.#options = options
  }

  /** Rejects with `FirstPartyAuthError` `registration_failed`; the next call asks again. */
  async taskOf(credential: AgentIdentityCredential): Promise<string> {
    const key = credentialKey(credential)
    const running = this.#tasks.get(key) ?? this.#register(credential)
    this.#tasks.set(key, running)
    try {
      return await running
    } catch (error) {
      if (this.#tasks.get(key) === running) this.#tasks.delete(key)
      throw error
    }
  }

  async #register(credential: AgentIdentityCredential): Promise<string> {
    const { http, clock, authApi = AGENT_AUTH_API } = this.#options
    const timestamp = secondsUtc(clock.wall())
    const signature = signed(credential, `${credential.runtimeId}:${timestamp}`)
    const abort = new AbortController()
    const cancel = clock.after(REGISTER_MS, () => abort.abort())
    try {
      const reply = await http.send({
        method: 'POST',
        url: `${authApi}/v1/agent/${encodeURIComponent(credential.runtimeId)}/task/register`,
        headers: [
          ['content-type', 'application/json'],
          ['accept', '*/*'],
        ],
        body: JSON.stringify({ timestamp, signature }),
        signal: abort.signal,
      })
      if (reply.status !== 200 && reply.status !== 201) throw failed(`rejected (${reply.status})`, reply.status >= 500)
      const body = asRecord(parsed(reply.body))
      const task = text(body?.task_id) ?? text(body?.taskId)
      if (task !== undefined) return task
      const sealed = text(body?.encrypted_task_id) ?? text(body?.encryptedTaskId)
      throw failed(
        sealed === undefined ? 'gave no task id' : 'gave a sealed task id, which cannot be opened here',
        false,
      )
    } catch (error) {
      if (error instanceof FirstPartyAuthError) throw error
      throw failed('transport failed', true)
    } finally {
      cancel()
    }
  }
}

function signed({ privateKey }: AgentIdentityCredential, message: string): string {
  return sign(null, Buffer.from(message), agentKey(privateKey, 'agent_identity')).toString('base64')
}

function secondsUtc(wallMs: number): string {
  return `${new Date(wallMs).toISOString().slice(0, 19)}Z`
}

function failed(what: string, transient: boolean): FirstPartyAuthError {
  return new FirstPartyAuthError('registration_failed', `agent task registration ${what}`, { transient })
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
