/** Results that wait for one write together. */
export class WriteGroup {
  readonly written: Promise<void>
  #settle: { readonly succeed: () => void; readonly fail: (error: Error) => void } | undefined

  constructor() {
    this.written = new Promise((succeed, fail) => {
      this.#settle = { succeed, fail }
    })
  }

  succeed(): void {
    this.#settle?.succeed()
  }

  fail(error: Error): void {
    this.#settle?.fail(error)
  }
}
