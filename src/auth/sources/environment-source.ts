import { agentIdentityFrom } from './agent-record.js'
import { payloadOf } from './claims.js'
import type { ApiKeyCredential, Credential, PersonalTokenCredential } from './credential.js'
import type { CredentialSource } from './credential-source.js'
import { factsOf } from './stored-auth.js'

type Variables = Readonly<Record<string, string | undefined>>

/** Which organisation and project an API key is used for. */
export interface Selection {
  readonly organization?: string
  readonly project?: string
}

export function selectionOf(env: Variables): Selection {
  const organization = nonBlank(env.OPENAI_ORGANIZATION)
  const project = nonBlank(env.OPENAI_PROJECT)
  return Object.freeze({
    ...(organization !== undefined && { organization }),
    ...(project !== undefined && { project }),
  })
}

export function apiKeyCredential(key: string, selection: Selection = {}): ApiKeyCredential {
  return Object.freeze({ kind: 'apiKey', key, ...selection })
}

export function personalTokenCredential(token: string): PersonalTokenCredential {
  return Object.freeze({ kind: 'personalAccessToken', token, ...factsOf(token) })
}

/** The API key of a variable; for programs that enable it (reference: auth, 4, "Load order"). */
export function apiKeySource(env: Variables, variable = 'OPENAI_API_KEY'): CredentialSource {
  return {
    kind: 'environment',
    load: async () => {
      const key = nonBlank(env[variable])
      return key === undefined ? null : apiKeyCredential(key, selectionOf(env))
    },
  }
}

/** An access token of a variable: a personal access token (`at-…`), or the JWT of an agent identity. */
export function accessTokenSource(env: Variables, variable = 'CODEX_ACCESS_TOKEN'): CredentialSource {
  return {
    kind: 'environment',
    load: async (): Promise<Credential | null> => {
      const token = nonBlank(env[variable])
      if (token === undefined) return null
      const isIdentity = payloadOf(token)?.agent_runtime_id !== undefined
      return isIdentity ? agentIdentityFrom(token, variable) : personalTokenCredential(token)
    },
  }
}

function nonBlank(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === '' ? undefined : value.trim()
}
