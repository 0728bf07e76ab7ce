import { FirstPartyAuthError } from '../../errors.js'
import { bearerOf, type Credential, usesBackend } from '../sources/credential.js'
import type { Selection } from '../sources/environment-source.js'
import { type BackendPlaces, endpointOf, mcpEndpointOf, stageOfBase } from './backend.js'
import type { RuntimeAuthMode } from './mode.js'

/** Who asks: an MCP connection, the model, or the backend's own clients (discovery, plugins, uploads, analytics). */
export type AuthClient = 'mcp' | 'model' | 'backend'

/**
 * What a request will carry. `anonymous`: nothing of ours. `bearer`: the token, with the token's own account. `runtime`: an
 * assertion of the process. `own_assertion`: one that the credential makes itself. `host_headers`: what the host gave.
 */
export type AuthPlan = 'anonymous' | 'bearer' | 'runtime' | 'own_assertion' | 'host_headers'

export interface PlanFacts {
  readonly mode: RuntimeAuthMode
  readonly client: AuthClient
  readonly url: URL
  readonly places: BackendPlaces
}

/** Throws what can be refused before any credential is looked at (reference: auth, 3, step 2). */
export function checkDestination({ mode, client, url, places }: PlanFacts): void {
  const destination = client === 'mcp' ? mcpEndpointOf(url, places) : endpointOf(url, places)
  if (destination.kind === 'odd' && mode !== 'off')
    throw new FirstPartyAuthError(
      'unsupported_endpoint',
      'unsupported operation: runtime auth does not support this OpenAI endpoint',
      { place: url.origin },
    )
  const stage = stageOfBase(places)
  if (destination.kind !== 'first_party' || stage === undefined || destination.stage === stage) return
  if (client !== 'mcp' && mode === 'off') return
  throw new FirstPartyAuthError(
    'runtime_environment_mismatch',
    'Requests must use the same production or staging environment as runtime registration',
    { place: url.origin },
  )
}

/**
 * What this credential gives a request in this mode (reference: runtime-auth, 4 and 14; known-quirks 62).
 *
 * @throws FirstPartyAuthError when the request must not go out: `assertion_not_possible`, `selection_not_possible`.
 */
export function planOf(facts: PlanFacts, credential: Credential, selection: Selection = {}): AuthPlan {
  const { mode, client, url, places } = facts
  const destination = client === 'mcp' ? mcpEndpointOf(url, places) : endpointOf(url, places)
  if (client === 'mcp' && (destination.kind === 'foreign' || !usesBackend(credential))) return 'anonymous'
  const isSelected = selection.organization !== undefined || selection.project !== undefined
  if (client === 'model' && isSelected && credential.kind !== 'apiKey')
    throw new FirstPartyAuthError(
      'selection_not_possible',
      'organization and project selection requires an OpenAI API key',
    )
  if (destination.kind === 'foreign') return foreignPlan(mode, credential, url)
  switch (credential.kind) {
    case 'agentIdentity':
      return 'own_assertion'
    case 'hostAssertion':
      return mode === 'off' && credential.accessToken !== undefined ? 'bearer' : 'own_assertion'
    case 'headers':
      return mode === 'off' ? 'host_headers' : 'runtime'
    default:
      return mode === 'off' ? 'bearer' : 'runtime'
  }
}

/** Another provider gets the bearer where it always did, but nothing in a mode that has none. */
function foreignPlan(mode: RuntimeAuthMode, credential: Credential, url: URL): AuthPlan {
  if (mode !== 'assertion_only' && bearerOf(credential) !== undefined) return 'bearer'
  throw new FirstPartyAuthError(
    'assertion_not_possible',
    mode === 'assertion_only'
      ? 'this request cannot carry an assertion, and assertion_only sends nothing else'
      : 'this credential is only for the first-party backend',
    { place: url.origin },
  )
}
