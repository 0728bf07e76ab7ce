import type { Era } from './clients/client.js'
import type { TransportKind } from './upstream.js'

/** Who speaks with whom, and over what: `downstream` between client and gateway, `upstream` between gateway and server. */
export interface Combination {
  readonly client: Era
  readonly server: Era
  readonly downstream: TransportKind
  readonly upstream: TransportKind
}

const ERAS: readonly Era[] = ['old', 'new']
const TRANSPORTS: readonly TransportKind[] = ['stdio', 'http']

export const COMBINATIONS: readonly Combination[] = ERAS.flatMap((client) =>
  ERAS.flatMap((server) =>
    TRANSPORTS.flatMap((downstream) => TRANSPORTS.map((upstream) => ({ client, server, downstream, upstream }))),
  ),
)

/** e.g. `old client over http, new server over stdio`. */
export function titleOf({ client, server, downstream, upstream }: Combination): string {
  return `${client} client over ${downstream}, ${server} server over ${upstream}`
}
