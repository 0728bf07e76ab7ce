import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Finished, type Program, startProgram } from '../clients/program.js'

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..')
export const ECHO = join(ROOT, 'test', 'fixtures', 'stdio', 'echo.mjs')
const REEVE = join(ROOT, 'dist', 'cli', 'reeve.js')

/** Builds the command line unless it is what the sources say. To be called in `beforeAll`. */
export async function buildCli(): Promise<void> {
  await promisify(execFile)(process.execPath, [join(ROOT, 'scripts', 'build.mjs'), '--cli'], { cwd: ROOT })
}

/** The built command line as a program of its own. */
export function reeveCommand(...args: string[]): { readonly command: string; readonly args: readonly string[] } {
  return { command: process.execPath, args: [REEVE, ...args] }
}

/** One entry of `mcp_servers`, as JSON files have it. */
export type ServerEntry = Readonly<Record<string, unknown>>

/** The echo server with options of its own. */
export function echo(...args: string[]): ServerEntry {
  return { command: process.execPath, args: [ECHO, ...args] }
}

/** What the command line of a test sees. Servers are its own: a broker would outlive it. */
export function cliEnvironment(folder: string): Record<string, string> {
  return { PATH: process.env.PATH ?? '', HOME: folder, REEVE_HOME: folder, REEVE_NO_BROKER: '1' }
}

/** A home of the test's own, and the built command line run in it. */
export interface CliHome extends AsyncDisposable {
  readonly folder: string
  /** Runs one command line to its end. */
  reeve(args: readonly string[], options?: RunOptions): Promise<Finished>
  /** Starts one that goes on; it is killed with its group when the home is disposed. */
  start(args: readonly string[], options?: RunOptions): Program
}

export interface RunOptions {
  /** Text for stdin; it is closed afterwards in any case. */
  readonly stdin?: string
  readonly env?: Readonly<Record<string, string>>
  /** A script beside the command line, from the root of the repository. */
  readonly script?: string
}

/** Makes a home whose `config.toml` holds `servers`. */
export async function cliHome(servers: Readonly<Record<string, ServerEntry>> = {}): Promise<CliHome> {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-cli-'))
  if (Object.keys(servers).length > 0) await writeFile(join(folder, 'config.toml'), toToml(servers))
  const running: Program[] = []
  const start = (args: readonly string[], options: RunOptions = {}): Program => {
    const program = startProgram(
      { command: process.execPath, args: [options.script === undefined ? REEVE : join(ROOT, options.script), ...args] },
      { cwd: folder, env: { ...cliEnvironment(folder), ...options.env } },
    )
    running.push(program)
    return program
  }
  return {
    folder,
    start,
    async reeve(args, options = {}) {
      const program = start(args, options)
      let stdout = ''
      program.child.stdout.on('data', (chunk: Buffer) => {
        stdout += chunk.toString()
      })
      program.child.stdin.end(options.stdin ?? '')
      const exit = await program.exited
      return { ...exit, stdout, stderr: program.stderr() }
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(running.map((program) => program[Symbol.asyncDispose]()))
      await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** Resolves with the first match in what the program writes to stderr. */
export function printed(program: Program, pattern: RegExp): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    const look = () => {
      const found = pattern.exec(program.stderr())
      if (found !== null) resolve(found)
    }
    program.child.stderr.on('data', look)
    look()
    program.exited.then(() => reject(new Error(`ended first:\n${program.stderr()}`)), reject)
  })
}

/** Names and values as TOML takes them from JSON. */
export function toToml(servers: Readonly<Record<string, ServerEntry>>): string {
  return Object.entries(servers)
    .map(([name, entry]) => {
      const lines = Object.entries(entry).map(([member, value]) => `${member} = ${inline(value)}`)
      return `[mcp_servers.${JSON.stringify(name)}]\n${lines.join('\n')}\n`
    })
    .join('\n')
}

function inline(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(inline).join(', ')}]`
  const members = Object.entries(value).map(([name, item]) => `${JSON.stringify(name)} = ${inline(item)}`)
  return `{ ${members.join(', ')} }`
}
