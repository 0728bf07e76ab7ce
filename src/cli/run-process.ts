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
  const code = await main(process.argv.slice(2), {
    stdout: process.stdout,
    stderr: process.stderr,
    stdin: process.stdin,
    env: process.env,
    cwd: process.cwd(),
    signal: interruption.signal,
  })
  await Promise.all([drained(process.stdout), drained(process.stderr)])
  process.exit(interruption.exitCode() ?? code)
}

function drained(stream: NodeJS.WriteStream): Promise<void> {
  if (stream.writableLength === 0 || stream.destroyed) return Promise.resolve()
  return new Promise((resolve) => {
    stream.once('close', resolve)
    stream.write('', () => resolve())
  })
}
