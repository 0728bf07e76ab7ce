import { displayKey } from '../../identity/index.js'
import type { LoginServer } from '../../reeve.js'
import { LOCAL_USER } from '../../threads/index.js'
import { oneLine } from '../printable.js'
import { UsageError } from '../usage.js'

/** `--principal ID`: whose login is meant, of those that the gateway serves. */
export interface PrincipalOption {
  readonly principal?: string
}

/** Characters of an id; those of the gateway have 54. */
const LONGEST = 200

/** Undefined for the local user, also by the name that records give them. Throws UsageError for what can be no id. */
export function principalOf({ principal }: PrincipalOption): { readonly principal?: string } {
  if (principal === undefined || principal === LOCAL_USER) return {}
  if (/^[\x21-\x7e]+$/.test(principal) && principal.length <= LONGEST) return { principal }
  throw new UsageError('--principal takes the id of a user of the gateway, as `reeve audit` shows it')
}

/** A login that would not be used is refused: tokens of principals are exchanged for that server. */
export function refuseExchanged({ key, config: { transport } }: LoginServer, principal: string | undefined): void {
  if (principal === undefined || transport.type === 'stdio' || transport.oauth?.tokenExchange === undefined) return
  const name = oneLine(displayKey(key))
  throw new UsageError(`'${name}' has the tokens of principals exchanged (oauth.token_exchange): no login is used`)
}
