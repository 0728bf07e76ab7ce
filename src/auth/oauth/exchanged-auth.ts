import type { HeaderField } from '../header-field.js'
import { credentialUrl } from './endpoint.js'
import type { LoginServer } from './logins.js'
import type { ExchangeWish, TokenExchanges } from './token-exchange.js'

/** A server, and who contributed it. */
export interface ExchangeServer extends LoginServer {
  readonly source?: { readonly kind: string }
}

/**
 * What a principal's connection to a server sends where its tokens are exchanged; undefined where they are not, and for
 * the local user, who comes with none. Only the user's own configuration says where a principal's token is shown: what a
 * plugin brings does not count.
 */
export function exchangedAuth(
  exchanges: TokenExchanges,
  { key, config: { transport }, source }: ExchangeServer,
  principal: string | undefined,
): ExchangedAuth | undefined {
  if (principal === undefined || transport.type === 'stdio') return undefined
  const settings = transport.oauth?.tokenExchange
  const url = credentialUrl(transport.url)
  if (settings === undefined || url === undefined || (source !== undefined && source.kind !== 'config'))
    return undefined
  return new ExchangedAuth(exchanges, { principal, label: key.name, url, settings })
}

/** The credentials of one principal's connection to a server that takes exchanged tokens; asked for every operation. */
export class ExchangedAuth {
  readonly #exchanges: TokenExchanges
  readonly #wish: ExchangeWish
  readonly #origin: string

  constructor(exchanges: TokenExchanges, wish: ExchangeWish) {
    this.#exchanges = exchanges
    this.#wish = wish
    this.#origin = new URL(wish.url).origin
  }

  /** @throws what `TokenExchanges.token` does: nothing is sent then */
  async headers({ origin }: { readonly origin: string }): Promise<readonly HeaderField[]> {
    if (origin !== this.#origin) return []
    return [['Authorization', `Bearer ${await this.#exchanges.token(this.#wish)}`]]
  }

  /** A token that the server refused is exchanged anew, once. */
  async onUnauthorized(
    _operation: unknown,
    { headers }: { readonly headers: readonly HeaderField[] },
  ): Promise<boolean> {
    const sent = headers.findLast(([name]) => name.toLowerCase() === 'authorization')?.[1]
    const rejected = /^Bearer (.+)$/.exec(sent ?? '')?.[1]
    if (rejected === undefined) return false
    return (await this.#exchanges.token({ ...this.#wish, rejected })) !== rejected
  }
}
