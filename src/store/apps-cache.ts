import { randomUUID } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Inventory, StoredInventory } from '../connections/index.js'
import { ReeveError } from '../errors.js'
import type { JsonObject, JsonValue } from '../protocol/index.js'
import type { AppsCache, AppsCacheEntry, AppsCacheKey } from '../threads/index.js'
import { frozenJson } from './frozen-json.js'

const TOOLS = { folder: 'codex_apps_tools', schema: 5 } as const
const SERVER = { folder: 'codex_apps_server_info', schema: 1 } as const
/** Bytes of one file; a larger one counts as none (reference: auth, 5.2). */
const MOST_BYTES = 32 * 1024 * 1024

/** Accounts whose tools are held in memory; the ones that were longest not asked for are forgotten first. */
const MOST_ENTRIES = 32

export interface FileAppsCacheOptions {
  /** The state folder; its `cache` is used. */
  readonly home: string
  readonly onwarning: (warning: ReeveError) => void
  readonly now?: () => number
}

/**
 * What is kept of hosted apps: in memory for this process, and in two files for each account, which don't need each other. A
 * file is replaced whole, so that other processes find an old one or a new one; one that began to fetch earlier does not
 * replace what began later. A file that can't be read, or is another version's, counts as none.
 */
export class FileAppsCache implements AppsCache {
  readonly #options: FileAppsCacheOptions
  readonly #entries = new Map<string, Entry>()
  readonly #owned = new WeakMap<object, Map<string, Entry>>()
  #writing: Promise<void> = Promise.resolve()

  constructor(options: FileAppsCacheOptions) {
    this.#options = options
  }

  activate(owner: object, key: AppsCacheKey): AppsCacheEntry {
    const owned = this.#owned.get(owner) ?? new Map<string, Entry>()
    this.#owned.set(owner, owned)
    for (const [digest, entry] of owned) {
      if (entry.account === key.account) continue
      owned.delete(digest)
      entry.owners.delete(owner)
      if (entry.owners.size > 0) continue
      entry.discard()
      this.#entries.delete(digest)
    }
    const entry = owned.get(key.digest) ?? this.#entries.get(key.digest) ?? this.#opened(key)
    this.#used(key.digest, entry)
    entry.owners.add(owner)
    owned.set(key.digest, entry)
    return entry
  }

  /** Resolves when everything is written that was published. */
  settled(): Promise<void> {
    return this.#writing
  }

  #opened({ digest, account }: AppsCacheKey): Entry {
    const entry = new Entry(
      account,
      this.#read(digest),
      (inventory, fetchedAt) => {
        this.#writing = this.#writing.then(() => this.#write(digest, inventory, fetchedAt))
      },
      this.#options.now ?? Date.now,
    )
    return entry
  }

  /** Who still has an entry that is forgotten here keeps it; whoever comes later reads the file. */
  #used(digest: string, entry: Entry): void {
    this.#entries.delete(digest)
    this.#entries.set(digest, entry)
    const [oldest] = this.#entries.keys()
    if (this.#entries.size > MOST_ENTRIES && oldest !== undefined) this.#entries.delete(oldest)
  }

  // ---- files ----

  #file({ folder }: { readonly folder: string }, digest: string): string {
    return join(this.#options.home, 'cache', folder, `${digest}.json`)
  }

  /** Once, when the entry is made. */
  #read(digest: string): StoredInventory | undefined {
    const kept = this.#readFile(TOOLS, digest)
    const { tools, fetched_at: storedAt } = kept ?? {}
    if (!Array.isArray(tools) || !tools.every(isTool) || typeof storedAt !== 'number') {
      if (kept !== undefined) this.#corrupt(this.#file(TOOLS, digest), 'it holds no list of tools')
      return undefined
    }
    const server = serverFacts(this.#readFile(SERVER, digest)?.server)
    try {
      return frozenJson({ inventory: { ...server, tools }, storedAt })
    } catch (error) {
      // Nested deeper than anybody goes.
      if (error instanceof RangeError) return this.#corrupt(this.#file(TOOLS, digest), error.message)
      throw error
    }
  }

  #readFile(kind: typeof TOOLS | typeof SERVER, digest: string): JsonObject | undefined {
    const file = this.#file(kind, digest)
    try {
      if (statSync(file).size > MOST_BYTES) return this.#corrupt(file, 'it is larger than 32 MiB')
      const content: JsonValue = JSON.parse(readFileSync(file, 'utf8'))
      if (!isObject(content)) return this.#corrupt(file, 'it holds no object')
      // Another version's is nobody's fault.
      return content.schema_version === kind.schema ? content : undefined
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
      return this.#corrupt(file, error instanceof Error ? error.message : String(error))
    }
  }

  #corrupt(file: string, reason: string): undefined {
    const message = `what was kept of hosted apps can't be used, and is fetched anew: ${reason}`
    this.#options.onwarning(new ReeveError('apps_cache_unreadable', message, { place: file }))
  }

  async #write(digest: string, inventory: Inventory, fetchedAt: number): Promise<void> {
    const { tools, protocolVersion, serverInfo, capabilities, instructions } = inventory
    const server = { protocolVersion, serverInfo, capabilities, ...(instructions !== undefined && { instructions }) }
    await this.#replace(this.#file(SERVER, digest), { schema_version: SERVER.schema, server }, fetchedAt)
    await this.#replace(this.#file(TOOLS, digest), { schema_version: TOOLS.schema, tools }, fetchedAt)
  }

  /** The live value counts whether it can be kept or not. */
  async #replace(file: string, content: object, fetchedAt: number): Promise<void> {
    const draft = `${file}.${randomUUID()}.tmp`
    try {
      const text = JSON.stringify({ ...content, fetched_at: fetchedAt })
      if (Buffer.byteLength(text) > MOST_BYTES) throw new Error('it is larger than 32 MiB')
      if ((await fetchedBefore(file)) > fetchedAt) return
      await mkdir(join(file, '..'), { recursive: true, mode: 0o700 })
      await writeFile(draft, text, { mode: 0o600 })
      await rename(draft, file)
    } catch (error) {
      await rm(draft, { force: true }).catch(() => undefined)
      const reason = error instanceof Error ? error.message : String(error)
      const message = `the tools of hosted apps can't be kept for the next start: ${reason}`
      this.#options.onwarning(new ReeveError('apps_cache_unwritable', message, { place: file, cause: error }))
    }
  }
}

class Entry implements AppsCacheEntry {
  readonly account: string
  readonly owners = new Set<object>()
  readonly #keep: (inventory: Inventory, fetchedAt: number) => void
  readonly #now: () => number
  /** When each fetch began that may still publish. */
  readonly #begun = new Map<number, number>()
  #current: StoredInventory | undefined
  #lastTicket = 0
  #accepted = 0
  #isDiscarded = false

  constructor(
    account: string,
    stored: StoredInventory | undefined,
    keep: (inventory: Inventory, fetchedAt: number) => void,
    now: () => number,
  ) {
    this.account = account
    this.#current = stored
    this.#keep = keep
    this.#now = now
  }

  get(): StoredInventory | undefined {
    return this.#isDiscarded ? undefined : this.#current
  }

  begin(): number {
    this.#lastTicket += 1
    this.#begun.set(this.#lastTicket, this.#now())
    return this.#lastTicket
  }

  publish(ticket: number, inventory: Inventory): Inventory | undefined {
    if (this.#isDiscarded) return undefined
    const fetchedAt = this.#begun.get(ticket)
    if (fetchedAt === undefined || ticket <= this.#accepted) return this.#current?.inventory
    this.#accepted = ticket
    for (const older of this.#begun.keys()) if (older <= ticket) this.#begun.delete(older)
    const { resources: _, resourceTemplates: __, prompts: ___, ...kept } = inventory
    this.#current = Object.freeze({ inventory: Object.freeze(kept), storedAt: fetchedAt })
    this.#keep(inventory, fetchedAt)
    return inventory
  }

  discard(): void {
    this.#isDiscarded = true
    this.#current = undefined
    this.#begun.clear()
  }
}

/** Of what another process began to fetch; 0 where there is nothing that counts. */
async function fetchedBefore(file: string): Promise<number> {
  try {
    const { fetched_at: at }: JsonObject = JSON.parse(await readFile(file, 'utf8'))
    // A clock that was wrong must not keep everything out for ever.
    return typeof at === 'number' && at <= Date.now() ? at : 0
  } catch {
    // What can't be read is replaced.
    return 0
  }
}

function serverFacts(value: JsonValue | undefined): Omit<Inventory, 'tools'> {
  const server = isObject(value) ? value : {}
  const { protocolVersion, serverInfo, capabilities, instructions } = server
  return {
    protocolVersion: typeof protocolVersion === 'string' ? protocolVersion : '',
    serverInfo: isObject(serverInfo) ? serverInfo : { name: 'codex_apps', version: '' },
    capabilities: isObject(capabilities) ? capabilities : { tools: {} },
    ...(typeof instructions === 'string' && { instructions }),
  }
}

function isTool(value: JsonValue): value is JsonObject {
  return isObject(value) && typeof value.name === 'string'
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
