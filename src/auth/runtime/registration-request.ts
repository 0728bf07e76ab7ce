import { FirstPartyAuthError } from '../../errors.js'
import type { Credential } from '../sources/credential.js'
import type { HarnessFacts, RegistrationFacts } from './issuer.js'

/** Compact JSON; the order of the members is part of the wire form (reference: runtime-auth, 2.1). */
export function registrationBody(facts: RegistrationFacts, { harness, version, role }: HarnessFacts): string {
  return JSON.stringify({
    actor_auth: actorAuth(facts.credential),
    agent_host_auth: { type: 'installation_id', installation_id: facts.installationId },
    public_key: facts.publicKey,
    metadata: { harness, harness_version: version, role },
  })
}

function actorAuth(credential: Credential): Readonly<Record<string, string>> {
  switch (credential.kind) {
    case 'chatgpt':
    case 'chatgptAuthTokens':
      return { type: 'oauth', credential: credential.accessToken }
    case 'apiKey': {
      const { key, organization, project } = credential
      return {
        type: 'platform_api_key',
        credential: key,
        ...(organization !== undefined && { organization_id: organization }),
        ...(project !== undefined && { project_id: project }),
      }
    }
    case 'personalAccessToken':
      return { type: 'personal_access_token', credential: credential.token }
    case 'headers':
    case 'agentIdentity':
    case 'hostAssertion':
      throw new FirstPartyAuthError('registration_failed', 'this credential cannot register a runtime', {
        data: { kind: credential.kind },
      })
  }
}
