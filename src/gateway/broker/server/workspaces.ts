import { isDeepStrictEqual } from 'node:util'
import { loadConfig } from '../../../config/index.js'
import { ClosedError } from '../../../errors.js'
import { displayKey } from '../../../identity/index.js'
import { Reeve } from '../../../reeve.js'
import { GATEWAY_FEATURES } from '../../features.js'
import { type AskForVariables, clientSettings, type Variables } from './client-variables.js'
import { digestOf, type HostLease, RuntimeHosts } from './runtime-hosts.js'

export interface WorkspaceRequest {
  readonly configFiles: readonly string[]
  readonly cwd: string
  readonly ask: AskForVariables
}

/** A workspace, as people see it. */
export interface WorkspaceRow {
  readonly cwd: string
  readonly configFiles: readonly string[]
  readonly clients: number
  readonly servers: readonly string[]
}

/** A client's part in a workspace, until it leaves. */
export interface WorkspaceVisit {
  readonly reeve: Reeve
  leave(): void
}

export interface WorkspacesOptions {
  readonly home: string
  /** Milliseconds that a server, and a workspace, without clients is kept for the next one. */
  readonly keptMs: number
  /** Reeve's own command line, which servers may be told of as a launcher; absolute. */
  readonly commandLine?: string
  /** Nothing is started before. Never rejects. */
  readonly ready: Promise<void>
  readonly onWarning: (warning: Error) => void
}

interface Workspace {
  readonly cwd: string
  readonly configFiles: readonly string[]
  readonly lease: HostLease
  readonly opening: Promise<Reeve>
  reeve: Reeve | undefined
  visitors: number
  emptied: NodeJS.Timeout | undefined
}

/** Empty workspaces that are kept at most; the oldest goes first. */
const KEPT = 32

interface WorkspaceFacts {
  readonly configFiles: readonly string[]
  readonly cwd: string
  readonly env: Variables
}

/**
 * The runtimes of one broker: one for all clients with the same configuration files, working directory and values of
 * variables. Those that differ in their variables never share a server; those that differ in the rest share the servers
 * to which it makes no difference.
 */
export class Workspaces {
  readonly #options: WorkspacesOptions
  readonly #hosts: RuntimeHosts
  readonly #open = new Map<string, Workspace>()
  /** Names that a configuration asked for last. */
  readonly #names = new Map<string, ReadonlySet<string>>()
  #closed: Promise<void> | undefined

  constructor(options: WorkspacesOptions) {
    this.#options = options
    const { home, keptMs: idleMs, commandLine } = options
    this.#hosts = new RuntimeHosts({ home, idleMs, ...(commandLine !== undefined && { commandLine }) })
  }

  /** The workspace of a client, its configuration as it stands on disk now. */
  async visit({ configFiles, cwd, ask }: WorkspaceRequest): Promise<WorkspaceVisit> {
    const { home } = this.#options
    const place = JSON.stringify([configFiles, cwd])
    const load = (env: Variables) => loadConfig({ home, cwd, env, files: configFiles })
    const { config, env, names } = await clientSettings(load, ask, this.#names.get(place) ?? [])
    this.#names.set(place, names)
    const workspace = this.#enter(`${place} ${digestOf(env)}`, { configFiles, cwd, env })
    try {
      const reeve = await workspace.opening
      // Servers that did not change keep running.
      if (!isDeepStrictEqual(config, reeve.config)) await reeve.reload()
      return { reeve, leave: once(() => this.#leave(workspace)) }
    } catch (error) {
      this.#leave(workspace)
      throw error
    }
  }

  /** For people who look at the broker. */
  rows(): readonly WorkspaceRow[] {
    return [...this.#open.values()].map(({ cwd, configFiles, visitors, reeve }) => ({
      cwd,
      configFiles,
      clients: visitors,
      servers: reeve?.servers.map(({ key }) => displayKey(key)) ?? [],
    }))
  }

  /** Ends every runtime with its servers. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= this.#closeAll()
    return this.#closed
  }

  #enter(identity: string, given: WorkspaceFacts): Workspace {
    if (this.#closed !== undefined) throw new ClosedError('the broker')
    const found = this.#open.get(identity)
    const workspace = found ?? this.#create(identity, given)
    clearTimeout(workspace.emptied)
    workspace.emptied = undefined
    workspace.visitors += 1
    return workspace
  }

  #create(identity: string, { configFiles, cwd, env }: WorkspaceFacts): Workspace {
    const lease = this.#hosts.lease(env)
    const opening = this.#options.ready.then(() =>
      Reeve.open({
        host: lease.host,
        configFiles,
        cwd,
        featureDefaults: GATEWAY_FEATURES,
        credentials: { from: 'home' },
      }),
    )
    const workspace: Workspace = { configFiles, cwd, lease, opening, reeve: undefined, visitors: 0, emptied: undefined }
    this.#open.set(identity, workspace)
    opening.then(
      (reeve) => {
        workspace.reeve = reeve
        for (const warning of reeve.warnings) this.#options.onWarning(warning)
      },
      () => void this.#end(workspace),
    )
    return workspace
  }

  #leave(workspace: Workspace): void {
    workspace.visitors -= 1
    if (workspace.visitors > 0 || this.#closed !== undefined) return
    const end = () => void this.#end(workspace)
    workspace.emptied = setTimeout(end, this.#options.keptMs)
    const empty = [...this.#open.values()].filter(({ visitors }) => visitors === 0)
    if (empty.length > KEPT && empty[0] !== undefined) void this.#end(empty[0])
  }

  async #end(workspace: Workspace): Promise<void> {
    clearTimeout(workspace.emptied)
    for (const [identity, other] of this.#open) if (other === workspace) this.#open.delete(identity)
    try {
      // Why one was not opened was told to the client.
      const reeve = await workspace.opening.catch(() => undefined)
      await reeve?.close()
      await workspace.lease.release()
    } catch (error) {
      this.#options.onWarning(error instanceof Error ? error : new Error(String(error)))
    }
  }

  async #closeAll(): Promise<void> {
    await Promise.all([...this.#open.values()].map((workspace) => this.#end(workspace)))
  }
}

function once(action: () => void): () => void {
  let done = false
  return () => {
    if (!done) action()
    done = true
  }
}
