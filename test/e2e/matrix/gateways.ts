import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type HttpServing, serveHttp, serveStdio } from '../../../src/gateway/index.js'
import { type ServerKey, serverKey } from '../../../src/identity/index.js'
import type { JsonObject } from '../../../src/protocol/index.js'
import { Reeve } from '../../../src/reeve.js'
import { CLIENT_INFO, type Era, type EraClient } from './clients/client.js'
import { NEW_REVISION, NewClient } from './clients/new-client.js'
import { OldClient } from './clients/old-client.js'
import type { TransportKind, Upstream } from './upstream.js'
import { SessionHttpWire } from './wires/session-http-wire.js'
import { StatelessHttpWire } from './wires/stateless-http-wire.js'
import { StdioWire } from './wires/stdio-wire.js'

export const TOKEN = 'matrix-token-'.padEnd(43, 'x')

/** `merged`: all servers as one, under qualified names. `transparent`: the first server as it is. */
export type Front = 'merged' | 'transparent'

export interface ClientSpec {
  readonly era: Era
  readonly transport: TransportKind
  readonly front: Front
  readonly capabilities: JsonObject
  /** What it says of itself; absent: the usual. */
  readonly info?: JsonObject
  /** What else it says when it introduces itself: in `initialize`, or in its first `server/discover`. */
  readonly further?: JsonObject
}

/** The real runtime over some servers, and gateways in front of it that open when a client first needs them. */
export class Gateways implements AsyncDisposable {
  /** Faults that a gateway reported. */
  readonly warnings: Error[] = []
  readonly #home: string
  readonly #reeve: Reeve
  readonly #upstreams: Readonly<Record<string, Upstream>>
  readonly #serving = new Map<Front, Promise<HttpServing>>()

  private constructor(home: string, reeve: Reeve, upstreams: Readonly<Record<string, Upstream>>) {
    this.#home = home
    this.#reeve = reeve
    this.#upstreams = upstreams
  }

  static async open(upstreams: Readonly<Record<string, Upstream>>): Promise<Gateways> {
    const home = await mkdtemp(join(tmpdir(), 'reeve-matrix-'))
    const tables = Object.entries(upstreams).map(([name, { toml }]) => `[mcp_servers.${name}]\n${toml}\n`)
    await writeFile(join(home, 'config.toml'), tables.join('\n'))
    const reeve = await Reeve.open({ home, cwd: home, env: { PATH: process.env.PATH, HOME: home } })
    return new Gateways(home, reeve, upstreams)
  }

  /** Over stdio each client has a gateway of its own, as a program that it starts. */
  async connect({ era, transport, front, capabilities, info = CLIENT_INFO, further }: ClientSpec): Promise<EraClient> {
    const wire = transport === 'stdio' ? await this.#stdioWire(front) : await this.#httpWire(era, front)
    const Client = era === 'old' ? OldClient : NewClient
    return Client.open(wire, capabilities, info, further)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const serving of this.#serving.values()) await (await serving).close()
    await this.#reeve.close()
    for (const upstream of Object.values(this.#upstreams)) await upstream[Symbol.asyncDispose]()
    await rm(this.#home, { recursive: true, force: true })
  }

  async #stdioWire(front: Front): Promise<StdioWire> {
    const wire = new StdioWire()
    const serving = await serveStdio({ ...this.#options(front), streams: wire.gatewaySide, signals: [] })
    // As the streams of a process that ends.
    void serving.closed.then(() => wire.gatewaySide.output.end())
    return wire
  }

  async #httpWire(era: Era, front: Front): Promise<SessionHttpWire | StatelessHttpWire> {
    const serving =
      this.#serving.get(front) ?? serveHttp({ ...this.#options(front), authentication: BEARER, signals: [] })
    this.#serving.set(front, serving)
    const { url } = await serving
    return era === 'old' ? new SessionHttpWire(url, TOKEN) : new StatelessHttpWire(url, TOKEN, NEW_REVISION)
  }

  #options(front: Front) {
    return {
      startThread: (thread: Parameters<Reeve['startThread']>[0]) => this.#reeve.startThread(thread),
      version: '9.9.9',
      onWarning: (warning: Error) => void this.warnings.push(warning),
      ...(front === 'transparent' && { transparent: this.#first() }),
    }
  }

  /** A transparent gateway shows the first of the servers. */
  #first(): ServerKey {
    const [name] = Object.keys(this.#upstreams)
    if (name === undefined) throw new Error('there is no server')
    return serverKey(name)
  }
}

const BEARER = { kind: 'bearer', token: TOKEN } as const
