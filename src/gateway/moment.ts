/** Something that happens once and is waited for by many. */
export class Moment {
  readonly come: Promise<void>
  #arrive: () => void = () => undefined

  constructor() {
    this.come = new Promise((resolve) => {
      this.#arrive = resolve
    })
  }

  arrive(): void {
    this.#arrive()
  }
}
