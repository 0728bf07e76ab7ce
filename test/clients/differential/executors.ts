import { once } from 'node:events'
import { reeveCommand } from '../../e2e/built-cli.js'
import { cuttingProxy } from '../../fixtures/executor/cutting-proxy.js'
import { type ClientHome, clientHome } from '../client-home.js'
import { PEER } from '../peers.js'
import { type Command, type Program, startProgram } from '../program.js'

/** An executor that can be killed and comes back where it was, and whose connections can be cut. */
export interface Executor extends AsyncDisposable {
  readonly url: string
  /** Its `CODEX_HOME` and `REEVE_HOME`. */
  readonly home: string
  /** Without a word; what it ran is gone when this resolves. */
  kill(): Promise<void>
  restart(): Promise<void>
  /** Every connection to it; new ones are let through. */
  cut(): void
}

/** `built`: runs from `dist`. */
export const EXECUTORS = {
  'codex exec-server': {
    built: false,
    command: () => {
      const { command, args } = PEER.codex()
      return { command, args: [...args, 'exec-server'] }
    },
  },
  'reeve executor': { built: true, command: () => reeveCommand('executor') },
} satisfies Record<string, { readonly built: boolean; readonly command: () => Command }>

export type ExecutorKind = keyof typeof EXECUTORS

/** Starts one on a port of the system's choice, with a home of its own. */
export async function startExecutor(kind: ExecutorKind): Promise<Executor> {
  const home = await clientHome('executor')
  let { program, url } = await listen(kind, home, 'ws://127.0.0.1:0')
  const proxy = await cuttingProxy(url)
  return {
    url: proxy.url,
    cut: proxy.cut,
    home: home.folder,
    async kill() {
      program.child.kill('SIGKILL')
      await program[Symbol.asyncDispose]()
    },
    async restart() {
      ;({ program, url } = await listen(kind, home, url))
    },
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]()
      await program[Symbol.asyncDispose]()
      await home[Symbol.asyncDispose]()
    },
  }
}

async function listen(
  kind: ExecutorKind,
  home: ClientHome,
  at: string,
): Promise<{ readonly program: Program; readonly url: string }> {
  const { command, args } = EXECUTORS[kind].command()
  const program = startProgram(
    { command, args: [...args, '--listen', at] },
    { env: { ...home.env, CODEX_HOME: home.folder, REEVE_HOME: home.folder }, cwd: home.folder },
  )
  const [line] = (await Promise.race([
    once(program.child.stdout, 'data'),
    program.exited.then(() => {
      throw new Error(`the executor ended: ${program.stderr()}`)
    }),
  ])) as [Buffer]
  return { program, url: line.toString().trim() }
}
