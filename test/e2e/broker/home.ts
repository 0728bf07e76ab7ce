import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Finished, type Program, startProgram } from '../../clients/program.js'
import { isRunning } from '../../fixtures/stdio/fixture-processes.js'
import { cliEnvironment, ROOT, type ServerEntry, toToml } from '../built-cli.js'
import { StdioClient } from './stdio-client.js'

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Another build of the command line. */
  readonly reeve?: string
  readonly stdin?: string
}

/** A home whose command lines use its broker, with what is needed to count processes and to end them all. */
export class BrokerHome implements AsyncDisposable {
  readonly folder: string
  readonly #root: string
  readonly #running: Program[] = []
  readonly #servers = new Map<string, ServerEntry>()

  private constructor(folder: string, root: string) {
    this.folder = folder
    this.#root = root
  }

  /**
   * Its servers are echo servers; `servers` has further arguments of each, by name.
   * @param root the repository's folder, for callers that were bundled elsewhere
   */
  static async make(
    servers: Readonly<Record<string, readonly string[]>> = { notes: [] },
    root: string = ROOT,
  ): Promise<BrokerHome> {
    const home = new BrokerHome(await mkdtemp(join(tmpdir(), 'reeve-brokered-')), root)
    await home.configure(servers)
    return home
  }

  configure(servers: Readonly<Record<string, readonly string[]>>, more: ServerEntry = {}): Promise<void> {
    this.#servers.clear()
    for (const [name, args] of Object.entries(servers)) this.#servers.set(name, { ...this.#echo(name, args), ...more })
    return this.#write()
  }

  /** One more server, an echo server but for what is given. */
  add(name: string, entry: ServerEntry): Promise<void> {
    this.#servers.set(name, { ...this.#echo(name, []), ...entry })
    return this.#write()
  }

  /** The folder in the arguments tells the processes of this home from those of other tests. */
  #echo(name: string, args: readonly string[]): ServerEntry {
    const script = join(this.#root, 'test', 'fixtures', 'stdio', 'echo.mjs')
    const marked = ['--instructions', this.folder, '--record', this.recordOf(name)]
    return { command: process.execPath, args: [script, ...marked, ...args] }
  }

  #write(): Promise<void> {
    return writeFile(join(this.folder, 'servers.toml'), toToml(Object.fromEntries(this.#servers)))
  }

  recordOf(server: string): string {
    return join(this.folder, `${server}.record`)
  }

  /** What a server has received, a frame a line; of all processes that there were. */
  recorded(server: string): string {
    return existsSync(this.recordOf(server)) ? readFileSync(this.recordOf(server), 'utf8') : ''
  }

  start(args: readonly string[], options: RunOptions = {}): Program {
    const config = ['--config', join(this.folder, 'servers.toml')]
    const program = startProgram(
      { command: process.execPath, args: [options.reeve ?? this.#reeve, ...config, ...args] },
      { cwd: options.cwd ?? this.folder, env: { ...this.env, ...options.env } },
    )
    this.#running.push(program)
    return program
  }

  get #reeve(): string {
    return join(this.#root, 'dist', 'cli', 'reeve.js')
  }

  get env(): Record<string, string> {
    const { REEVE_NO_BROKER: _, ...env } = cliEnvironment(this.folder)
    return env
  }

  async reeve(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
    const program = this.start(args, options)
    let stdout = ''
    program.child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString()
    })
    program.child.stdin.end(options.stdin ?? '')
    return { ...(await program.exited), stdout, stderr: program.stderr() }
  }

  /** A client that starts `reeve serve --stdio`; its session is not opened yet. */
  client(options: RunOptions = {}): StdioClient {
    return new StdioClient(this.start(['serve', '--stdio'], options))
  }

  /** Of its broker. Rejects when none runs. */
  async brokerPid(): Promise<number> {
    return (await this.#status()).pid
  }

  /** The clients of its broker. */
  async sessions(): Promise<readonly object[]> {
    return (await this.#status()).sessions
  }

  async #status(): Promise<{ readonly pid: number; readonly sessions: readonly object[] }> {
    const { stdout } = await this.reeve(['--json', 'broker', 'status'])
    const { broker } = JSON.parse(stdout)
    if (broker === null) throw new Error('no broker runs')
    return broker
  }

  /** The server processes of this home that run. */
  servers(): number[] {
    return processes().filter((pid) => isOurs(pid, this.folder, 'echo.mjs'))
  }

  /** The broker processes of this home that run. */
  brokers(): number[] {
    return processes().filter((pid) => isOurs(pid, this.folder, 'broker\0run'))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#running.map((program) => program[Symbol.asyncDispose]()))
    for (const pid of [...this.brokers(), ...this.servers()]) process.kill(pid, 'SIGKILL')
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Linux only, as the tests that count processes are. */
function processes(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter(isRunning)
}

function isOurs(pid: number, folder: string, part: string): boolean {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    return command.includes(folder) && command.includes(part)
  } catch {
    return false
  }
}
