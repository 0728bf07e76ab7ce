// One process that uses a login shared with others. Bundled and run by the test:
//   node worker.mjs HOME JSON-of-owner file|keyring
// A line on stdin is one round: {"clock":MS,"bomb":"locked"|"sent"|"stored"|null,"claim":FILE}. The answer is one line: what
// came of an operation at the resource. With a bomb, the first process that gets as far as it says is killed there.
import { writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { CredentialKeeper } from '../../../src/auth/oauth/keeper.js'
import { OAuthServerAuth } from '../../../src/auth/oauth/server-auth.js'
import type { StoredCredential } from '../../../src/auth/store/credential.js'
import { HomeCredentialStore } from '../../../src/auth/store/home-store.js'
import { createHttpClient, type HttpClient, type HttpRequest } from '../../../src/environments/index.js'

const [home = '', ownerText = '{}', kept = 'file'] = process.argv.slice(2)
const owner = JSON.parse(ownerText)

interface Round {
  readonly clock: number
  readonly bomb: 'locked' | 'sent' | 'stored' | null
  readonly claim: string
}
let round: Round = { clock: 0, bomb: null, claim: '' }

/** The first one dies; the others find the file and live. */
function explode(at: Round['bomb']): void {
  if (round.bomb !== at) return
  try {
    writeFileSync(round.claim, String(process.pid), { flag: 'wx' })
  } catch {
    return
  }
  process.kill(process.pid, 'SIGKILL')
}

class DyingStore extends HomeCredentialStore {
  override async replace(before: StoredCredential, after: StoredCredential): Promise<boolean> {
    const done = await super.replace(before, after)
    explode('stored')
    return done
  }
}

const client = createHttpClient({ env: {} })
const http: HttpClient = {
  close: () => client.close(),
  request: (request: HttpRequest) => {
    if (request.url.endsWith('/token')) explode('locked')
    return client.request({ ...request, headers: [...request.headers, ['X-Test-Process', String(process.pid)]] })
  },
}
const keeper = new CredentialKeeper({
  store: new DyingStore(home, { mode: kept === 'keyring' ? 'keyring' : 'file' }),
  home,
  now: () => Date.now() + round.clock,
})

async function operate(): Promise<unknown> {
  const auth = new OAuthServerAuth(keeper, owner, http)
  const operation = { method: 'POST', url: owner.url, origin: new URL(owner.url).origin }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} })
  for (let attempt = 1; ; attempt += 1) {
    const headers = await auth.headers(operation)
    const response = await http.request({ method: 'POST', url: owner.url, headers, body })
    response.cancel()
    if (response.status !== 401 || attempt === 2) return { status: response.status, attempt }
    await auth.onUnauthorized(operation, { headers })
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  round = JSON.parse(line)
  const outcome = await operate().catch((error: Error) => ({ error: error.message }))
  process.stdout.write(`${JSON.stringify(outcome)}\n`)
}
await client.close()
