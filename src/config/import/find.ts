import { ConfigError } from '../../errors.js'
import { EXPANDED_MEMBERS, escapeVariables, inputVariable } from '../expand.js'
import { type ForeignDocument, translateServers } from '../foreign/file.js'
import { rewriteTexts } from '../foreign/variables.js'
import { readSettings } from '../read-settings.js'
import { readServer } from '../schema/read-server.js'
import type { Notes } from '../schema/shape.js'
import type { ConfigProblem, ServerConfig } from '../server.js'
import { parseJson } from '../source/json.js'
import { emptyTable, isTable, type Path, type Raw, type RawTable, type SourceDocument } from '../source/raw.js'
import { readConfigText } from '../source/read-text.js'
import { parseToml } from '../source/toml.js'
import { type ClientId, type ClientSource, type ClientWorld, clientSources } from './clients.js'

/** A server that another client has. */
export interface FoundServer {
  readonly client: ClientId
  readonly name: string
  readonly file: string
  readonly line: number | undefined
  readonly scope: ClientSource['scope']
  /** In our members, variables as `${VAR}`. Holds secrets. */
  readonly entry: RawTable
  /** The same, read. Undefined: it is broken, and a problem says why. */
  readonly config: ServerConfig | undefined
  /** Variables that stand for what the client would have asked for. */
  readonly inputs: readonly string[]
}

export interface FoundServers {
  readonly servers: readonly FoundServer[]
  readonly problems: readonly ConfigProblem[]
  /** Files that were there and could be read. */
  readonly files: readonly { readonly client: ClientId; readonly file: string; readonly servers: number }[]
}

const SILENT: Notes = { unknown: () => {} }

/** Looks for the servers of other clients. A file that is not there says nothing; one that can't be read is a problem. */
export function findClientServers(clients: readonly ClientId[], world: ClientWorld): FoundServers {
  const servers: FoundServer[] = []
  const problems: ConfigProblem[] = []
  const files: { client: ClientId; file: string; servers: number }[] = []
  for (const source of clients.flatMap((client) => clientSources(client, world))) {
    try {
      const found = readSource(source, world)
      if (found === undefined) continue
      servers.push(...found.servers)
      problems.push(...found.problems)
      files.push({ client: source.client, file: source.file, servers: found.servers.length })
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      const { code, message, place = source.file } = error
      problems.push({ severity: 'error', code, message, place })
    }
  }
  return { servers, problems: withoutRepeats(problems), files: oncePerFile(files) }
}

function readSource(source: ClientSource, world: ClientWorld): Pick<FoundServers, 'servers' | 'problems'> | undefined {
  const text = readConfigText(source.file)
  if (text === undefined) return undefined
  const { document, problems } = documentOf(source, text, world)
  const settings = readSettings(document, { layer: 'file', strict: false, sharedFile: true })
  const sound = new Set(settings.servers.map(({ name }) => name))
  const table = isTable(document.root.mcp_servers) ? document.root.mcp_servers : emptyTable()
  const servers = Object.entries(table).map(([name, value]): FoundServer => {
    const { entry, inputs } = ownEntry(isTable(value) ? value : emptyTable(), source)
    return {
      client: source.client,
      name,
      file: source.file,
      line: document.position(['mcp_servers', name])?.line,
      scope: source.scope,
      entry,
      // Read again as it will stand in our file, so that a second import recognises it.
      config: sound.has(name) ? readServer(entry, ['mcp_servers', name], SILENT) : undefined,
      inputs,
    }
  })
  return { servers, problems: [...problems, ...settings.problems] }
}

/** The file as one of ours, with only its servers. */
function documentOf(source: ClientSource, text: string, world: ClientWorld): ForeignDocument {
  if (source.format === 'codex') {
    const document = parseToml(source.file, text)
    const root: Record<string, Raw> = emptyTable()
    if (document.root.mcp_servers !== undefined) root.mcp_servers = document.root.mcp_servers
    return { document: { ...document, root }, problems: [] }
  }
  const document = parseJson(source.file, text)
  const at = source.tables.find((path) => isTable(valueAt(document, path)))
  const servers = at === undefined ? undefined : valueAt(document, at)
  if (at === undefined || !isTable(servers)) return { document: { ...document, root: emptyTable() }, problems: [] }
  return translateServers(document, { shape: source.format, at, servers }, world.env, false)
}

function valueAt(document: SourceDocument, path: Path): Raw | undefined {
  let value: Raw | undefined = document.root
  for (const part of path) value = isTable(value) && Object.hasOwn(value, part) ? value[part] : undefined
  return value
}

/** The entry as it can stand in our file: nothing that only its own client would understand. */
function ownEntry(entry: RawTable, source: ClientSource): Pick<FoundServer, 'entry' | 'inputs'> {
  const own: Record<string, Raw> = Object.assign(emptyTable(), entry)
  const inputs = new Set<string>()
  for (const member of EXPANDED_MEMBERS) {
    const value = own[member]
    if (value !== undefined) own[member] = rewriteTexts(value, (text) => ownText(text, source, inputs))
  }
  if (source.folder !== undefined && own.command !== undefined && own.cwd === undefined)
    own.cwd = escapeVariables(source.folder)
  // Only for reading by hand; the transport shows itself.
  if (own.type === 'stdio' || own.type === 'streamable_http') delete own.type
  return { entry: own, inputs: [...inputs] }
}

function ownText(text: string, source: ClientSource, inputs: Set<string>): string {
  if (source.format === 'codex') return escapeVariables(text)
  return text.replace(/\$\{input:([^}]*)\}/g, (_, id: string) => {
    const variable = inputVariable(id)
    inputs.add(variable)
    return `\${${variable}}`
  })
}

/** A file that is looked into twice, for two scopes, has its faults once. */
function withoutRepeats(problems: readonly ConfigProblem[]): readonly ConfigProblem[] {
  return [...new Map(problems.map((problem) => [`${problem.place}\0${problem.message}`, problem])).values()]
}

function oncePerFile(files: FoundServers['files']): FoundServers['files'] {
  const sums = new Map<string, FoundServers['files'][number]>()
  for (const one of files) {
    const key = `${one.client}\0${one.file}`
    sums.set(key, { ...one, servers: one.servers + (sums.get(key)?.servers ?? 0) })
  }
  return [...sums.values()]
}
