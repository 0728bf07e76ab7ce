import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type HttpServing, type ServeHttpOptions, serveHttp } from '../../../src/gateway/index.js'
import type { JsonObject } from '../../../src/protocol/index.js'
import { Reeve } from '../../../src/reeve.js'

export const TOKEN = 'e2e-token-'.padEnd(43, 'x')
const ECHO = fileURLToPath(new URL('../../fixtures/stdio/echo.mjs', import.meta.url))

export interface ServerSpec {
  /** Arguments of the echo server. */
  readonly args?: readonly string[]
  /** Another program than the echo server. */
  readonly script?: string
  /** Further lines of its table. */
  readonly toml?: string
}

export interface Home extends AsyncDisposable {
  readonly path: string
  readonly reeve: Reeve
  /** What a server received, where it was told to record with `--record` and `recordOf`. */
  recordOf(server: string): string
  recorded(server: string): Promise<JsonObject[]>
}

/** A runtime with a home of its own, over real server processes; `more` goes into its configuration as it is. */
export async function openHome(
  servers: (home: string) => Readonly<Record<string, ServerSpec>>,
  more = '',
): Promise<Home> {
  const path = await mkdtemp(join(tmpdir(), 'reeve-gateway-'))
  await writeFile(join(path, 'config.toml'), `${toml(servers(path))}\n${more}`)
  const reeve = await Reeve.open({ home: path, cwd: path, env: { PATH: process.env.PATH, HOME: path } })
  const recordOf = (server: string) => join(path, `${server}.record`)
  return {
    path,
    reeve,
    recordOf,
    recorded: async (server) =>
      (await readFile(recordOf(server), 'utf8'))
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as JsonObject),
    [Symbol.asyncDispose]: async () => {
      await reeve.close()
      await rm(path, { recursive: true, force: true })
    },
  }
}

export interface Gateway extends AsyncDisposable {
  readonly url: string
  readonly serving: HttpServing
  readonly warnings: Error[]
}

/** A gateway over HTTP on a port of the system's choice. */
export async function openGateway(reeve: Reeve, options: Partial<ServeHttpOptions> = {}): Promise<Gateway> {
  const warnings: Error[] = []
  const serving = await serveHttp({
    startThread: (thread) => reeve.startThread(thread),
    version: '9.9.9',
    authentication: { kind: 'bearer', token: TOKEN },
    signals: [],
    onWarning: (warning) => warnings.push(warning),
    ...options,
  })
  return { url: serving.url, serving, warnings, [Symbol.asyncDispose]: () => serving.close() }
}

function toml(servers: Readonly<Record<string, ServerSpec>>): string {
  return Object.entries(servers)
    .map(([name, { args = [], script = ECHO, toml: more = '' }]) =>
      [
        `[mcp_servers.${JSON.stringify(name)}]`,
        `command = ${JSON.stringify(process.execPath)}`,
        `args = ${JSON.stringify([script, ...args])}`,
        more,
      ].join('\n'),
    )
    .join('\n\n')
}
