import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FileCredentialStore } from '../../src/auth/index.js'
import { createHttpClient, type HttpClient } from '../../src/environments/index.js'
import { AuthorizationServer } from './authorization-server.js'

/** What logins are tried in: a home, its file of credentials, and a server that asks for a login. */
export interface LoginWorld extends AsyncDisposable {
  readonly home: string
  readonly http: HttpClient
  readonly store: FileCredentialStore
  readonly server: AuthorizationServer
}

export async function openLoginWorld(): Promise<LoginWorld> {
  const home = await mkdtemp(join(tmpdir(), 'reeve-login-'))
  const http = createHttpClient({ env: {} })
  const server = await AuthorizationServer.listen()
  return {
    home,
    http,
    store: new FileCredentialStore(home),
    server,
    async [Symbol.asyncDispose]() {
      await http.close()
      await server[Symbol.asyncDispose]()
      await rm(home, { recursive: true, force: true })
    },
  }
}
