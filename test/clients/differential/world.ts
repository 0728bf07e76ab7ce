import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ClientHome, clientHome } from '../client-home.js'
import { ROOT } from '../peers.js'
import type { Json } from './questions.js'

const NOTES = join(ROOT, 'test', 'clients', 'differential', 'notes-server.mjs')

/** A server by its arguments to the notes server, or as its entry of `mcpServers` stands. */
export type ServerPlan = readonly string[] | { readonly [member: string]: Json }

/** A plugin folder. Its name is what its servers say when they are asked who they are. */
export interface PluginPlan {
  /** The id of its capability root. */
  readonly root: string
  readonly environment: string
  /** Default: the environment's id. */
  readonly folder?: string
  readonly servers: Readonly<Record<string, ServerPlan>>
  /** In the place of a manifest that works. */
  readonly manifest?: string
}

/** What both sides find before them. */
export interface Plan {
  /** In order of selection. */
  readonly environments: readonly string[]
  readonly plugins: readonly PluginPlan[]
  /** Thread-wide servers, which run in the folder `host`. */
  readonly shared: Readonly<Record<string, ServerPlan>>
  /** More of `config.toml`. */
  readonly config?: string
  /** Environments where nobody is, by id. */
  readonly unreachable?: readonly string[]
  /** `config.toml` in the home of an executor, by its id. */
  readonly executorConfig?: Readonly<Record<string, string>>
  /** Default true. */
  readonly multiEnvironment?: boolean
}

export interface World extends AsyncDisposable {
  readonly plan: Plan
  readonly folder: string
  /** A folder of the world. */
  place(name: string): string
  /** `config.toml` and `environments.toml`, the same for both. */
  readonly config: string
  readonly environments: string
  readonly roots: readonly { readonly id: string; readonly environment: string; readonly path: string }[]
  readonly env: ClientHome['env']
  write(plugin: PluginPlan): Promise<void>
}

/** Makes the folders of a plan. `executors`: by id, where each listens. */
export async function makeWorld(plan: Plan, executors: Readonly<Record<string, string>>): Promise<World> {
  const home = await clientHome('differential')
  const nowhere = (plan.unreachable ?? []).map((id) => [id, 'ws://127.0.0.1:9'] as const)
  const place = (name: string) => join(home.folder, name)
  await Promise.all(['host', ...plan.environments].map((name) => mkdir(place(name), { recursive: true })))
  const write = (plugin: PluginPlan) => writePlugin(place(folderOf(plugin)), plugin)
  for (const plugin of plan.plugins) await write(plugin)
  return {
    plan,
    folder: home.folder,
    place,
    env: home.env,
    write,
    config: `${plan.config ?? ''}\n${sharedServers(plan.shared, place('host'))}`,
    environments: `include_local = true\n${[...Object.entries(executors), ...nowhere].map(environmentEntry).join('')}`,
    roots: plan.plugins.map((plugin) => ({
      id: plugin.root,
      environment: plugin.environment,
      path: place(folderOf(plugin)),
    })),
    [Symbol.asyncDispose]: home[Symbol.asyncDispose],
  }
}

function folderOf({ folder, environment }: PluginPlan): string {
  return folder ?? environment
}

async function writePlugin(folder: string, { root, servers, manifest }: PluginPlan): Promise<void> {
  await mkdir(join(folder, '.codex-plugin'), { recursive: true })
  const plain = { name: `plugin-${root}`, version: '1.0.0', description: 'notes', mcpServers: './.mcp.json' }
  await writeFile(join(folder, '.codex-plugin', 'plugin.json'), manifest ?? JSON.stringify(plain))
  const mcpServers = Object.fromEntries(Object.entries(servers).map(([name, server]) => [name, entryOf(server)]))
  await writeFile(join(folder, '.mcp.json'), JSON.stringify({ mcpServers }))
}

function entryOf(server: ServerPlan): { readonly [member: string]: Json } {
  if (!isArguments(server)) return server
  return { command: process.execPath, args: [NOTES, ...server] }
}

function isArguments(server: ServerPlan): server is readonly string[] {
  return Array.isArray(server)
}

function sharedServers(servers: Plan['shared'], cwd: string): string {
  return Object.entries(servers)
    .map(([name, server]) => {
      const entry = { ...entryOf(server), cwd }
      const lines = Object.entries(entry).map(([member, value]) => `${member} = ${JSON.stringify(value)}`)
      return `[mcp_servers.${JSON.stringify(name)}]\n${lines.join('\n')}\n`
    })
    .join('\n')
}

function environmentEntry([id, url]: readonly [string, string]): string {
  return `[[environments]]\nid = ${JSON.stringify(id)}\nurl = ${JSON.stringify(url)}\n`
}
