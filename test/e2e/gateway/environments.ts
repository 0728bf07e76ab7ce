import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type CliHome, cliEnvironment, cliHome, printed, reeveCommand } from '../built-cli.js'
import { type ExecutorProgram, executorProgram } from '../executor-program.js'
import type { Target } from './sdk-clients.js'

const FIXTURES = fileURLToPath(new URL('../../fixtures/', import.meta.url))
const NOTES = join(FIXTURES, 'environments', 'placed-notes.mjs')
const MODERN_SERVER = join(FIXTURES, 'full', 'server-2026.mjs')

/** Three servers called `notes`: of the configuration on this machine, and one each on two executors. */
export interface World extends AsyncDisposable {
  readonly home: CliHome
  readonly executors: Readonly<Record<'enva' | 'envb', ExecutorProgram>>
  /** The folder that is the workspace of an environment. */
  workspace(environment: string): string
  /** `reeve serve` over HTTP with these arguments beside. */
  http(...args: string[]): Promise<Target & { readonly kind: 'http' }>
  /** The command that serves over stdio, from servers of its own. */
  stdio(...args: string[]): Target
  /** The same from the broker of the home, which all these commands share. */
  brokered(...args: string[]): Target
}

export async function openWorld(): Promise<World> {
  const home = await cliHome()
  const executors = { enva: await executorProgram(), envb: await executorProgram() }
  const workspace = (environment: string) => join(home.folder, environment, 'work space')
  const tables = [table('mcp_servers.notes', stdio(NOTES, 'local'))]
  for (const [id, { url }] of Object.entries(executors)) {
    const plugin = join(home.folder, id, 'plugin')
    await mkdir(workspace(id), { recursive: true })
    await mkdir(join(plugin, '.codex-plugin'), { recursive: true })
    await writeFile(join(plugin, '.codex-plugin', 'plugin.json'), JSON.stringify({ name: `plugin-${id}` }))
    const mcpServers = {
      notes: stdio(NOTES, id),
      ...(id === 'envb' && { modern: stdio(MODERN_SERVER, '--stdio') }),
    }
    await writeFile(join(plugin, '.mcp.json'), JSON.stringify({ mcpServers }))
    tables.push(table('[environments]', { id, url, workspace: workspace(id) }))
    tables.push(table('[capability_roots]', { id: `root-${id}`, environment: id, path: plugin }))
  }
  await writeFile(join(home.folder, 'config.toml'), tables.join('\n'))
  return {
    home,
    executors,
    workspace,
    async http(...args) {
      const program = home.start(['serve', '--http', '127.0.0.1:0', ...args])
      const [, url = ''] = await printed(program, /^endpoint\s+(http:\S+)$/m)
      const [, token = ''] = await printed(program, /REEVE_TOKEN=(\S+)$/m)
      return { kind: 'http', url, token }
    },
    stdio: (...args) => ({
      kind: 'stdio',
      ...reeveCommand('serve', '--stdio', ...args),
      env: cliEnvironment(home.folder),
    }),
    brokered: (...args) => ({
      kind: 'stdio',
      ...reeveCommand('serve', '--stdio', ...args),
      env: throughBroker(home),
    }),
    async [Symbol.asyncDispose]() {
      await home.reeve(['broker', 'stop'])
      await home[Symbol.asyncDispose]()
      await Promise.all(Object.values(executors).map((executor) => executor[Symbol.asyncDispose]()))
    },
  }
}

/** The broker ends by itself should nobody stop it. */
function throughBroker({ folder }: CliHome): Record<string, string> {
  const { REEVE_NO_BROKER: _, ...env } = cliEnvironment(folder)
  return { ...env, REEVE_BROKER_IDLE_MS: '5000' }
}

function stdio(script: string, ...args: string[]) {
  return { command: process.execPath, args: [script, ...args] }
}

/** A table of TOML from members that are texts and lists of texts, which JSON's form fits. */
function table(name: string, members: Readonly<Record<string, string | readonly string[]>>): string {
  const lines = Object.entries(members).map(([key, value]) => `${key} = ${JSON.stringify(value)}`)
  return [`[${name}]`, ...lines, ''].join('\n')
}
