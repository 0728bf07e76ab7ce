import { Readable, Writable } from 'node:stream'
import { type Cli, type CliWorld, createCli, type GlobalOptions } from '../src/cli/cli.js'
import { main } from '../src/cli/main.js'

export interface CapturedCli {
  readonly cli: Cli
  stdout(): string
  stderr(): string
  /** Fires `cli.signal`, as Ctrl-C does. */
  interrupt(): void
}

/**
 * A `Cli` for running a verb inside the test, with its streams kept as text. `home` and `cwd` must be folders of the
 * test; nothing of the machine's environment is seen unless it is given in `env`.
 */
export function captureCli(
  options: GlobalOptions & {
    readonly home: string
    readonly cwd?: string
    readonly env?: Readonly<Record<string, string>>
    readonly stdin?: string
  },
): CapturedCli {
  const { text, stdout, stderr } = keptStreams()
  const controller = new AbortController()
  const world = {
    stdout,
    stderr,
    stdin: Readable.from(options.stdin === undefined ? [] : [Buffer.from(options.stdin)]),
    env: { HOME: options.home, ...options.env },
    cwd: options.cwd ?? options.home,
    signal: controller.signal,
  }
  return {
    cli: createCli(world, options),
    stdout: () => text.stdout,
    stderr: () => text.stderr,
    interrupt: () => controller.abort(),
  }
}

/**
 * Runs a whole command line inside the test. It sees nothing of the machine but what is given. `text` grows while it
 * runs; `ended` gives its exit code with all that it printed, `json()` reads its stdout as one value.
 */
export function captureRun(
  args: readonly string[],
  world: Pick<CliWorld, 'env' | 'cwd'> & { readonly signal?: AbortSignal },
) {
  const { text, stdout, stderr } = keptStreams()
  const run = main([...args], {
    stdout,
    stderr,
    stdin: Readable.from([]),
    signal: new AbortController().signal,
    ...world,
  })
  const ended = run.then((code) => ({ code, ...text, json: () => JSON.parse(text.stdout) }))
  return { text, ended }
}

function keptStreams() {
  const text = { stdout: '', stderr: '' }
  const keep = (name: 'stdout' | 'stderr') =>
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        text[name] += chunk.toString()
        done()
      },
    })
  return { text, stdout: keep('stdout'), stderr: keep('stderr') }
}
