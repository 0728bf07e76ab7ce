import { endProcess } from './end-process.js'
import { watchInterruption } from './interruption.js'
import { main } from './main.js'

/** 128 + SIGPIPE: whoever read our output is gone. */
const BROKEN_PIPE = 141

/** Runs the command line of this process and ends it, after everything printed has left. */
export async function runProcess(process: NodeJS.Process): Promise<never> {
  const interruption = watchInterruption(process)
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
      interruption.stop(BROKEN_PIPE)
    })
  }
  for (const event of ['uncaughtException', 'unhandledRejection'] as const)
    process.on(event, (error: unknown) => endByDefect(process, error))
  const code = await main(process.argv.slice(2), {
    stdout: process.stdout,
    stderr: process.stderr,
    stdin: process.stdin,
    env: process.env,
    cwd: process.cwd(),
    ...(process.argv[1] !== undefined && { entry: process.argv[1] }),
    signal: interruption.signal,
    passSignalsOn: interruption.passOn,
  })
  return endProcess(process, interruption.exitCode() ?? code)
}

/** Nothing is in order any more: what runs is killed when the process exits. Without Node's dump of the bundle's text. */
function endByDefect(process: NodeJS.Process, error: unknown): never {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  process.stderr.write(`error: this is a defect of reeve, please report it: ${text}\n`)
  process.exit(1)
}
