import { mkdir } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type SandboxCommandLine, sandboxCommandLine } from '../fixtures/sandbox/command-line.js'
import { type ClientHome, clientHome } from './client-home.js'
import { PEER } from './peers.js'
import { type Command, run } from './program.js'
import { probeScript, readProbe } from './sandbox-probe.js'
import type { ProfileRow } from './sandbox-profiles.js'
import { sandboxTree } from './sandbox-tree.js'

/** What each operation of the probe came to; undefined when the command was not run. */
export type Answers = ReadonlyMap<string, string> | undefined

export interface Difference {
  readonly operation: string
  readonly codex: string
  readonly reeve: string
}

/** `codex sandbox` and `reeve sandbox`, and what listens on this machine outside of them. */
export class SandboxSides implements AsyncDisposable {
  readonly #home: ClientHome
  readonly #reeve: SandboxCommandLine
  readonly #codex = PEER.codex()
  readonly #servers: readonly Server[]
  readonly #port: number

  private constructor(home: ClientHome, reeve: SandboxCommandLine, servers: readonly Server[], port: number) {
    this.#home = home
    this.#reeve = reeve
    this.#servers = servers
    this.#port = port
  }

  static async open(): Promise<SandboxSides> {
    const home = await clientHome('sandbox')
    await mkdir(join(home.folder, 'codex'))
    const tcp = await listen(0)
    const unix = await listen(join(home.folder, 'socket'))
    const address = tcp.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    return new SandboxSides(home, await sandboxCommandLine(), [tcp, unix], port)
  }

  /** Both, each in a tree of its own. */
  async compare(row: ProfileRow): Promise<{ readonly codex: Answers; readonly reeve: Answers }> {
    const codex = await this.#answers({ command: this.#codex.command, args: [...this.#codex.args, 'sandbox'] }, row)
    return { codex, reeve: await this.#answers(this.#reeve, row) }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#servers) server.close()
    await this.#reeve[Symbol.asyncDispose]()
    await this.#home[Symbol.asyncDispose]()
  }

  async #answers(sandbox: Command, row: ProfileRow): Promise<Answers> {
    const { folder, env } = this.#home
    await using tree = await sandboxTree(folder)
    await row.prepare?.(tree)
    const state = { permissionProfile: row.profile(tree), sandboxCwd: pathToFileURL(tree.at('ws')).href }
    // What codex needs inside to start its own helper.
    const needed = [dirname(dirname(this.#codex.command)), join(folder, 'codex')]
    const roots = needed.flatMap((root) => ['--sandbox-state-readable-root', root])
    const flags = (row.flags ?? []).map((flag) => (flag === 'other' ? tree.at('other') : flag))
    const options = ['--sandbox-state-json', JSON.stringify(state), ...roots, ...flags]
    const script = probeScript(tree, { port: this.#port, socket: join(folder, 'socket'), pid: process.pid })
    const { stdout } = await run(
      { command: sandbox.command, args: [...sandbox.args, ...options, '--', 'sh', '-c', script] },
      { cwd: folder, env: { ...env, CODEX_HOME: join(folder, 'codex'), TMPDIR: row.tmpdir ?? tree.at('tmp') } },
    )
    return readProbe(stdout)
  }
}

/** Where both did not come to the same, by name; `*` when only one of them ran the command. */
export function differences({ codex, reeve }: { readonly codex: Answers; readonly reeve: Answers }): Difference[] {
  if (codex === undefined || reeve === undefined) {
    if (codex === reeve) return []
    const ran = (answers: Answers) => (answers === undefined ? 'not run' : 'run')
    return [{ operation: '*', codex: ran(codex), reeve: ran(reeve) }]
  }
  return [...new Set([...codex.keys(), ...reeve.keys()])]
    .sort()
    .map((operation) => ({
      operation,
      codex: codex.get(operation) ?? 'missing',
      reeve: reeve.get(operation) ?? 'missing',
    }))
    .filter((one) => one.codex !== one.reeve)
}

async function listen(at: number | string): Promise<Server> {
  const server = createServer((socket) => socket.destroy())
  await new Promise<void>((resolve) => {
    if (typeof at === 'number') server.listen(at, '127.0.0.1', resolve)
    else server.listen(at, resolve)
  })
  return server
}
