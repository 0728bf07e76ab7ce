import { createInterface } from 'node:readline'
import type { Program } from '../clients/program.js'
import { cliHome } from './built-cli.js'

/** `reeve executor` as a process of its own, on a port that it keeps when it is started again. */
export interface ExecutorProgram extends AsyncDisposable {
  readonly url: string
  /** SIGKILL, to it alone. */
  kill(): Promise<void>
  /** A new process at the same port, which knows nothing of the old one's sessions. */
  restart(): Promise<void>
}

export async function executorProgram(env: Readonly<Record<string, string>> = {}): Promise<ExecutorProgram> {
  const home = await cliHome()
  const start = async (listen: string) => {
    const program = home.start(['executor', '--listen', listen], { env })
    return { program, url: await firstLine(program) }
  }
  let running = await start('ws://127.0.0.1:0')
  const { url } = running
  return {
    url,
    async kill() {
      running.program.child.kill('SIGKILL')
      await running.program.exited
    },
    async restart() {
      running = await start(url)
    },
    [Symbol.asyncDispose]: () => home[Symbol.asyncDispose](),
  }
}

function firstLine(program: Program): Promise<string> {
  return new Promise((resolve, reject) => {
    createInterface({ input: program.child.stdout }).once('line', resolve)
    program.exited.then(() => reject(new Error(`ended first:\n${program.stderr()}`)), reject)
  })
}
