import { stat } from 'node:fs/promises'
import type { CommandHook } from '../../config/index.js'
import type { HostVariables } from '../../connections/index.js'
import { type Environment, type EnvironmentProcess, inheritedVariables } from '../../environments/index.js'
import { ReeveError } from '../../errors.js'
import type { RawOutput } from './output.js'

/** Bytes of stdout, and of stderr, that a hook may print. */
export const OUTPUT_LIMIT = 1024 * 1024

/** Where hooks run: always on the host. */
export interface CommandPlace {
  readonly environment: Pick<Environment, 'spawn'>
  /** The host's variables. A hook gets those of the short list that servers get too, none of which is a credential. */
  readonly env: HostVariables
  /** Where it starts when the folder it should start in is not on this machine. */
  readonly cwd: string
}

/**
 * Runs a command with `input` on its stdin. Its whole process tree is ended when it ends, when `signal` fires, and when it
 * prints more than it may. Never rejects: what kept it from answering is in the result.
 */
export async function runCommand(
  { command }: CommandHook,
  run: { readonly input: string; readonly cwd: string; readonly label: string },
  { environment, env, cwd }: CommandPlace,
  signal: AbortSignal,
): Promise<RawOutput> {
  try {
    const folder = (await isFolder(run.cwd)) ? run.cwd : cwd
    const process = await environment.spawn({
      ...shellOf(command),
      env: hookVariables(env),
      cwd: folder,
      label: run.label,
      signal,
    })
    return await outputOf(process, run.input, signal)
  } catch (error) {
    if (!(error instanceof ReeveError)) throw error
    return { is: 'failed', reason: error.message }
  }
}

async function outputOf(process: EnvironmentProcess, input: string, signal: AbortSignal): Promise<RawOutput> {
  const stdout = new BoundedText()
  const stderr = new BoundedText()
  const interrupted = new Promise<string>((resolve) => {
    const onAbort = () => resolve('hook was cancelled')
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
    const receive = (text: BoundedText, name: string) => (chunk: Buffer) => {
      if (!text.add(chunk)) resolve(`hook printed more than ${OUTPUT_LIMIT} bytes on ${name}`)
    }
    process.onstdout = receive(stdout, 'stdout')
    process.onstderr = receive(stderr, 'stderr')
  })
  // A hook need not read its input, and one that has ended can't.
  process.write(input).then(
    () => process.closeStdin(),
    () => undefined,
  )
  const end = await Promise.race([process.exited, interrupted])
  if (typeof end === 'string') {
    await process.terminate()
    return { is: 'failed', reason: end }
  }
  if (stdout.isFull || stderr.isFull) return { is: 'failed', reason: await interrupted }
  if (end.failure !== undefined) return { is: 'failed', reason: end.failure.message }
  return { is: 'ended', code: end.code, stdout: stdout.text(), stderr: stderr.text() }
}

/** No login shell: what its profile sets may be credentials. */
function shellOf(command: string): { readonly program: string; readonly args: readonly string[] } {
  return process.platform === 'win32'
    ? { program: 'cmd.exe', args: ['/d', '/s', '/c', command] }
    : { program: '/bin/sh', args: ['-c', command] }
}

function hookVariables(env: HostVariables): Readonly<Record<string, string>> {
  const passed: Record<string, string> = Object.create(null)
  for (const name of inheritedVariables(process.platform)) {
    const value = env[name]
    if (value !== undefined) passed[name] = value
  }
  return passed
}

/** The primary environment may be another machine, whose folders are not here. */
function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
}

/** Keeps as much as is allowed, so that a flood costs no memory. */
class BoundedText {
  readonly #chunks: Buffer[] = []
  #size = 0
  isFull = false

  /** @returns false once there is more than is kept */
  add(chunk: Buffer): boolean {
    if (this.isFull) return false
    this.#size += chunk.length
    if (this.#size > OUTPUT_LIMIT) this.isFull = true
    else this.#chunks.push(chunk)
    return !this.isFull
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString('utf8')
  }
}
