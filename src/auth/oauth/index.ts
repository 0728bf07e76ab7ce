export * from '../store/credential.js'
export { CREDENTIALS_FILE, FileCredentialStore, SEALED_CREDENTIALS_FILE } from '../store/file-store.js'
export { HomeCredentialStore, type HomeStoreOptions, type StoreMode } from '../store/home-store.js'
export { type Keychain, SystemKeychain } from '../store/keychain.js'
export type { CredentialStore, SaveReport } from '../store/store.js'
export { CallbackListener, type CallbackPlace, callbackPlace } from './callback-listener.js'
export type { ClientSettings } from './client-identity.js'
export { credentialUrl } from './endpoint.js'
export { ExchangedAuth, exchangedAuth } from './exchanged-auth.js'
export type { OAuthHttp, OAuthRequest, OAuthResponse } from './http.js'
export { type IssuerMetadata, issuerMetadata, jsonDocument } from './issuer-metadata.js'
export { CredentialKeeper, type KeeperOptions, type TokenWish } from './keeper.js'
export { beginLogin, type LoggedIn, type LoginOptions, type PendingLogin } from './login.js'
export {
  LOCAL_PRINCIPAL,
  type LoggedOut,
  type LoginServer,
  loginOwner,
  type ServerLoginOptions,
  ServerLogins,
  type UnattendedLoginOptions,
} from './logins.js'
export { OAuthServerAuth } from './server-auth.js'
export { type SubjectToken, SubjectTokens } from './subject-tokens.js'
export { type ExchangeWish, TokenExchanges, type TokenExchangesOptions } from './token-exchange.js'
export type { IdentityProvider, UnattendedGrant } from './unattended.js'
export { isScope, readChallenges } from './www-authenticate.js'
