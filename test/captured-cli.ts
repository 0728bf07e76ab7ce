import { Readable, Writable } from 'node:stream'
import { type Cli, createCli, type GlobalOptions } from '../src/cli/cli.js'

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
  const text = { stdout: '', stderr: '' }
  const keep = (name: 'stdout' | 'stderr') =>
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        text[name] += chunk.toString()
        done()
      },
    })
  const controller = new AbortController()
  const world = {
    stdout: keep('stdout'),
    stderr: keep('stderr'),
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
