/** A network policy that is changed by hand. */
export class UrlRefusal {
  reason: string | undefined
  readonly #controller = new AbortController()

  get revoked(): AbortSignal {
    return this.#controller.signal
  }

  revoke(): void {
    this.#controller.abort()
  }

  readonly refusal = (): string | undefined => this.reason
}
