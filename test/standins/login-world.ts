import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { type CredentialOwner, FileCredentialStore } from '../../src/auth/index.js'
import { createHttpClient, type HttpClient } from '../../src/environments/index.js'
import { AuthorizationServer } from './authorization-server.js'

/** What logins are tried in: a home, its file of credentials, and a server that asks for a login. */
export interface LoginWorld extends AsyncDisposable {
  readonly home: string
  readonly http: HttpClient
  readonly store: FileCredentialStore
  readonly server: AuthorizationServer
  /** Under which name a login to it is filed. */
  owner(url?: string): CredentialOwner
}

/** Gives every test of a file a world of its own. */
export function eachLoginWorld(take: (world: LoginWorld) => void): void {
  let world: LoginWorld
  beforeEach(async () => {
    world = await openLoginWorld()
    take(world)
  })
  afterEach(() => world[Symbol.asyncDispose]())
}

async function openLoginWorld(): Promise<LoginWorld> {
  const home = await mkdtemp(join(tmpdir(), 'reeve-login-'))
  const http = createHttpClient({ env: {} })
  const server = await AuthorizationServer.listen()
  return {
    home,
    http,
    store: new FileCredentialStore(home),
    server,
    owner: (url = server.resourceUrl) => ({ server: 'guarded', environment: 'local', url, principal: 'user' }),
    async [Symbol.asyncDispose]() {
      await http.close()
      await server[Symbol.asyncDispose]()
      await rm(home, { recursive: true, force: true })
    },
  }
}
