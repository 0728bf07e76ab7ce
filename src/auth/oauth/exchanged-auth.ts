import type { HeaderField } from '../header-field.js'
import type { ExchangeWish, TokenExchanges } from './token-exchange.js'

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
