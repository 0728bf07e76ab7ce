import { exchange, type OAuthHttp } from './http.js'
import { type BearerChallenge, bearerChallenge } from './www-authenticate.js'

/** Milliseconds. */
const PROBE_TIME = 10_000

/** What a server says to somebody without credentials: the challenge of its 401; undefined where it refuses nobody. */
export async function probe(
  http: OAuthHttp,
  url: string,
  headers: readonly (readonly [string, string])[],
  signal?: AbortSignal,
): Promise<BearerChallenge | undefined> {
  const body = {
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'reeve', version: '1' } },
  }
  const answer = await exchange(
    http,
    {
      method: 'POST',
      url,
      headers: [...headers, ['Content-Type', 'application/json'], ['Accept', 'text/event-stream, application/json']],
      body: JSON.stringify(body),
      isConfidential: true,
    },
    { timeoutMs: PROBE_TIME, signal, readable: (status) => status === 401 },
  )
  return answer.status === 401 ? bearerChallenge(answer.challenges) : undefined
}
