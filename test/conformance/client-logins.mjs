// The user of the scenarios about authorization: logs in when the server wants it, and says yes to everything.
const REDIRECT_URI = 'http://127.0.0.1:3000/callback'
const DOCUMENT_URL = 'https://conformance-test.local/client-metadata.json'

/** Logins for one operation: a server that wants more again and again is given up. */
const MAX_LOGINS = 2

/**
 * Runs an operation, again after each login that it turns out to need.
 *
 * @param {{ reeve, context: object }} parts
 * @throws what the operation ends with
 */
export async function withLogins({ reeve, context }, operation) {
  for (let logins = 0; ; logins += 1) {
    try {
      return await operation()
    } catch (error) {
      const challenge = challengeOf(error)
      if (challenge === undefined || logins === MAX_LOGINS) throw error
      await logIn(reeve, context, challenge)
    }
  }
}

/** What the server said when it refused; an error that is about something else has none. */
function challengeOf(error) {
  for (let link = error; link !== undefined; link = link.cause) {
    if (link.code === 'auth_required') return link.challenge ?? ''
    if (link.code === 'insufficient_scope') return link.data.challenge ?? ''
  }
  return undefined
}

async function logIn(reeve, context, challenge) {
  const [server] = reeve.servers
  const { client_id: id, client_secret: secret, private_key_pem: privateKey } = context
  const client = {
    documentUrl: DOCUMENT_URL,
    ...(id && { id }),
    ...(secret && { secret }),
    ...(privateKey && { privateKey }),
  }
  const grant = grantOf(context)
  if (grant !== undefined) return reeve.loginUnattended(server, { client, grant, challenge })
  const login = await reeve.login(server, { redirectUri: REDIRECT_URI, client, challenge })
  const { headers } = await fetch(login.authorizationUrl, { redirect: 'manual' })
  return login.complete(headers.get('location') ?? '')
}

/** What a program logs in with by itself; undefined where a user does it. */
function grantOf({ scenario, valid_jwt: workload, idp_id_token: idToken, ...context }) {
  if (scenario.startsWith('auth/client-credentials-')) return { type: 'client_credentials' }
  if (workload !== undefined) return { type: 'workload_identity', assertion: () => workload }
  if (idToken === undefined) return undefined
  const provider = { tokenEndpoint: context.idp_token_endpoint, clientId: context.idp_client_id }
  return { type: 'enterprise', idToken, provider }
}
