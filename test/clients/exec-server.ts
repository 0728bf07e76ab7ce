import { once } from 'node:events'
import { type ClientHome, clientHome } from './client-home.js'
import { PEER } from './peers.js'
import { startProgram } from './program.js'

export interface ExecServer extends AsyncDisposable {
  readonly url: string
  readonly home: ClientHome
  /** Without a word. */
  kill(): Promise<void>
}

/** The real executor on loopback, with a home of its own. */
export async function execServer(
  options: {
    readonly listen?: string
    readonly env?: Readonly<Record<string, string>>
    /** Further arguments, and what they need in the home. */
    readonly more?: (home: string) => readonly string[]
    readonly prepare?: (home: string) => Promise<void>
  } = {},
): Promise<ExecServer> {
  const home = await clientHome('exec-server')
  await options.prepare?.(home.folder)
  const { command, args } = PEER.codex()
  const more = options.more?.(home.folder) ?? []
  const program = startProgram(
    { command, args: [...args, 'exec-server', '--listen', options.listen ?? 'ws://127.0.0.1:0', ...more] },
    { env: { ...home.env, CODEX_HOME: home.folder, ...options.env }, cwd: home.folder },
  )
  const [line] = (await Promise.race([
    once(program.child.stdout, 'data'),
    program.exited.then(() => {
      throw new Error(`exec-server ended: ${program.stderr()}`)
    }),
  ])) as [Buffer]
  return {
    url: line.toString().trim(),
    home,
    async kill() {
      program.child.kill('SIGKILL')
      await program.exited
    },
    async [Symbol.asyncDispose]() {
      await program[Symbol.asyncDispose]()
      await home[Symbol.asyncDispose]()
    },
  }
}
