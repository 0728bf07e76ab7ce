/** What a merged gateway calls the things of a server whose plain name needs no escaping. */
export class Names {
  readonly server: string

  constructor(server: string) {
    this.server = server
  }

  /** Of a tool or a prompt. */
  of(name: string): string {
    return `${this.server}__${name}`
  }

  uri(uri: string): string {
    return uri.startsWith('ui://')
      ? `ui://reeve.${this.server}/${uri.slice('ui://'.length)}`
      : `reeve://${this.server}/${uri}`
  }
}
