import { unwatchFile, watchFile } from 'node:fs'
import type { ServerConfig } from '../../config/index.js'
import { ReeveError, UnsupportedError } from '../../errors.js'
import type { ServerKey } from '../../identity/index.js'
import { isHeaderValue } from '../header-field.js'
import { type CredentialOwner, isUsable, type StoredCredential } from '../store/credential.js'
import type { CredentialStore } from '../store/store.js'
import type { ClientSettings } from './client-identity.js'
import { credentialUrl } from './endpoint.js'
import type { OAuthHttp } from './http.js'
import type { CredentialKeeper } from './keeper.js'
import { beginLogin, type LoggedIn, type LoginOptions, type PendingLogin } from './login.js'
import { revoke } from './revoke.js'
import { type ConnectionAccount, OAuthServerAuth } from './server-auth.js'
import { loginUnattended, type UnattendedOptions } from './unattended.js'

/** A server as far as its login goes. */
export interface LoginServer {
  readonly key: ServerKey
  readonly config: ServerConfig
}

/** Whoever owns the home. */
export const LOCAL_PRINCIPAL = 'user'

/**
 * How the logins of a principal are filed. Programs choose the ids of theirs, and one that is called like the local user must
 * not come by what is the local user's.
 */
export function filedAs(principal: string | undefined): string {
  return principal === undefined ? LOCAL_PRINCIPAL : `@${principal}`
}

/** Milliseconds between two looks at the file, for those who use no server meanwhile. */
const LOOK = 1_000

/**
 * Under which name the login of a server is filed; undefined for what has none: programs, other sources of credentials,
 * URLs that are none. By environment too, since one URL may be another server there (reference: known-quirks, 56).
 * `principal`: who uses it; absent: the local user.
 */
export function loginOwner({ key, config }: LoginServer, principal?: string): CredentialOwner | undefined {
  const { transport, environmentId } = config
  if (transport.type === 'stdio' || transport.auth !== 'oauth') return undefined
  const url = credentialUrl(transport.url)
  return url === undefined
    ? undefined
    : { server: key.name, environment: environmentId, url, principal: filedAs(principal) }
}

/** A login that is forgotten. `revoked`: its issuer knows. */
export interface LoggedOut {
  readonly issuer: string
  readonly revoked: boolean
}

/** For whom a login is; absent: for the local user. */
interface OnBehalf {
  readonly principal?: string
}

/** What one login wants otherwise than the configuration says. */
export type ServerLoginOptions = Pick<LoginOptions, 'redirectUri' | 'client' | 'scopes' | 'challenge' | 'signal'> &
  OnBehalf

/** The same of one without a user. */
export type UnattendedLoginOptions = Pick<UnattendedOptions, 'grant' | 'scopes' | 'challenge' | 'signal'> &
  OnBehalf & { readonly client?: ClientSettings }

/** What the configuration says about a login. */
function settingsOf(server: LoginServer, principal: string | undefined) {
  const { transport, scopes } = server.config
  const { oauth, oauthResource, httpHeaders = {} } = transport.type === 'stdio' ? {} : transport
  return {
    clientId: oauth?.clientId,
    login: {
      owner: ownerOf(server, principal),
      headers: Object.entries(httpHeaders).filter(([, value]) => isHeaderValue(value)),
      ...(oauthResource !== undefined && { resource: oauthResource }),
      ...(scopes !== undefined && { scopes }),
    },
  }
}

function ownerOf(server: LoginServer, principal: string | undefined): CredentialOwner {
  const owner = loginOwner(server, principal)
  if (owner !== undefined) return owner
  const { name } = server.key
  throw new UnsupportedError(`MCP server '${name}' is not one that is logged in to with OAuth`, { place: name })
}

/** The logins of one home, as connections see them. */
export class ServerLogins {
  readonly #keeper: CredentialKeeper
  readonly #store: CredentialStore
  readonly #listeners = new Set<() => void>()
  readonly #accounts = new WeakMap<object, ConnectionAccount>()
  #known: { readonly credentials: readonly StoredCredential[]; readonly version: string } | undefined

  constructor(keeper: CredentialKeeper) {
    this.#keeper = keeper
    this.#store = keeper.store
  }

  /**
   * What its connection sends; undefined for a server that is logged in to in another way, or not at all. `connection`
   * stands for the connection that it is for: what is opened for one connection again speaks for the same account.
   */
  credentials(
    server: LoginServer,
    { http }: { readonly http: OAuthHttp },
    connection: object = {},
    principal?: string,
  ): OAuthServerAuth | undefined {
    const owner = loginOwner(server, principal)
    if (owner === undefined) return undefined
    const account = this.#accounts.get(connection) ?? { as: undefined }
    this.#accounts.set(connection, account)
    return new OAuthServerAuth(this.#keeper, owner, http, account)
  }

  /**
   * Prepares a login to a server, as its configuration has it and `options` want it.
   *
   * @throws UnsupportedError for a server without OAuth; as `beginLogin`
   */
  begin(
    server: LoginServer,
    { http }: { readonly http: OAuthHttp },
    options: ServerLoginOptions,
  ): Promise<PendingLogin> {
    const { client, principal, ...rest } = options
    const settings = settingsOf(server, principal)
    const id = client?.id ?? settings.clientId
    return beginLogin({
      ...settings.login,
      http,
      store: this.#store,
      client: { ...client, ...(id !== undefined && { id }) },
      ...rest,
    })
  }

  /**
   * Logs in to a server without a user.
   *
   * @throws UnsupportedError for a server without OAuth, or where no client id is known; as `loginUnattended`
   */
  async unattended(
    server: LoginServer,
    { http }: { readonly http: OAuthHttp },
    options: UnattendedLoginOptions,
  ): Promise<LoggedIn> {
    const { client, principal, ...rest } = options
    const settings = settingsOf(server, principal)
    const id = client?.id ?? settings.clientId
    if (id === undefined)
      throw new UnsupportedError(`a client id is needed to log in to '${server.key.name}' without a user`)
    return loginUnattended({ ...settings.login, http, store: this.#store, client: { ...client, id }, ...rest })
  }

  /**
   * Forgets every login of a principal to a server of an environment, whoever issued it, and tells the issuers where they want to know and
   * can be reached. Resolves to those that there were.
   *
   * @throws CredentialStoreError: nothing is forgotten then
   */
  async logout(
    { server, environment, principal }: Pick<CredentialOwner, 'server' | 'environment'> & OnBehalf,
    http: OAuthHttp | undefined,
  ): Promise<readonly LoggedOut[]> {
    const whose = filedAs(principal)
    const removed = await this.#store.remove(
      (stored) => stored.server === server && stored.environment === environment && stored.principal === whose,
    )
    const tell = async (credential: StoredCredential): Promise<LoggedOut> => ({
      issuer: credential.issuer,
      revoked: http !== undefined && (await revoke(credential, http)),
    })
    return Promise.all(removed.map(tell))
  }

  /** What is stored for a server, and a principal other than the local user. Throws CredentialStoreError. */
  find(server: LoginServer, principal?: string): StoredCredential | undefined {
    const owner = loginOwner(server, principal)
    return owner === undefined ? undefined : this.#store.find(owner)
  }

  version(): string {
    const credentials = this.#readable()
    if (typeof credentials === 'string') return credentials
    if (this.#known?.credentials !== credentials) {
      this.#known = { credentials, version: JSON.stringify(credentials.map(({ loginId }) => loginId).sort()) }
    }
    return this.#known.version
  }

  digest(server: LoginServer, principal?: string): string | undefined {
    const found = this.#find(server, principal)
    return typeof found === 'string' ? found : found?.loginId
  }

  state(server: LoginServer, principal?: string) {
    if (loginOwner(server) === undefined) return 'unsupported' as const
    const found = this.#find(server, principal)
    if (found === undefined || typeof found === 'string') return 'logged_out' as const
    return isUsable(found, Date.now()) ? ('oauth' as const) : ('logged_out_needs_reauthentication' as const)
  }

  onchange(listener: () => void): () => void {
    // Every thread listens; the files are looked at once for all.
    const own = (): void => listener()
    const { files } = this.#store
    if (this.#listeners.size === 0)
      for (const file of files) watchFile(file, { interval: LOOK, persistent: false }, this.#look)
    this.#listeners.add(own)
    return () => {
      if (!this.#listeners.delete(own) || this.#listeners.size > 0) return
      for (const file of files) unwatchFile(file, this.#look)
    }
  }

  readonly #look = (): void => {
    for (const listener of [...this.#listeners]) listener()
  }

  /** A text where the store can't be read: the reason. */
  #find(server: LoginServer, principal?: string): StoredCredential | string | undefined {
    const owner = loginOwner(server, principal)
    if (owner === undefined) return undefined
    const readable = this.#readable()
    return typeof readable === 'string' ? readable : this.#store.find(owner)
  }

  #readable(): readonly StoredCredential[] | string {
    try {
      return this.#store.all()
    } catch (error) {
      if (error instanceof ReeveError && error.data?.pending === true)
        this.#store.prepare().then(this.#look, this.#look)
      if (error instanceof ReeveError) return `unreadable: ${error.code}`
      throw error
    }
  }
}
