import { ConfigError } from '../../errors.js'
import type { Environment } from '../expand.js'
import { nearest } from '../nearest.js'
import type { ConfigProblem } from '../server.js'
import { parseJson } from '../source/json.js'
import {
  emptyTable,
  isTable,
  type Path,
  pathText,
  placeIn,
  type Raw,
  type RawTable,
  type SourceDocument,
} from '../source/raw.js'
import { type TranslatedEntry, translateEntry } from './entry.js'
import { COMMON_RULES, type MemberRules, OPENCODE_RULES } from './members.js'
import { commonVariables, opencodeVariables, type RewriteVariables } from './variables.js'

/** Where a file keeps its servers, and how their entries are written. */
export interface ForeignServers {
  /** `mcpServers` (Claude, Cursor, Windsurf, Gemini CLI), `servers` (VS Code), `mcp` (opencode). */
  readonly shape: 'mcpServers' | 'servers' | 'opencode'
  /** Members from the root to the table of servers. */
  readonly at: Path
  readonly servers: RawTable
}

export interface ForeignDocument {
  /** The file as if it were our own: `{ mcp_servers }`; places are the file's. */
  readonly document: SourceDocument
  readonly problems: readonly ConfigProblem[]
}

/**
 * Reads another client's JSON file as one of ours. Variables are rewritten to `${VAR}`, not replaced.
 *
 * @throws ConfigError `syntax`, `too_deep`, `wrong_type`, `no_servers`.
 */
export function parseForeignFile(
  file: string,
  text: string,
  environment: Environment,
  strict = false,
): ForeignDocument {
  const source = parseJson(file, text)
  const found = findServers(source)
  if (found === undefined) throw noServers(source)
  return translateServers(source, found, environment, strict)
}

/** The table of servers of a file, by its shape; undefined when it has none. */
export function findServers({ root }: SourceDocument): ForeignServers | undefined {
  if (isTable(root.mcpServers)) return { shape: 'mcpServers', at: ['mcpServers'], servers: root.mcpServers }
  if (isTable(root.servers)) return { shape: 'servers', at: ['servers'], servers: root.servers }
  if (!isTable(root.mcp)) return undefined
  // VS Code's settings once held the same under `mcp`.
  if (isTable(root.mcp.servers)) return { shape: 'servers', at: ['mcp', 'servers'], servers: root.mcp.servers }
  // Gemini CLI has settings of another kind under that name.
  const hasEntries = Object.values(root.mcp).some(isTable)
  return hasEntries ? { shape: 'opencode', at: ['mcp'], servers: root.mcp } : undefined
}

/** Translates a table of servers; `found.at` may lie anywhere in the file. */
export function translateServers(
  source: SourceDocument,
  found: ForeignServers,
  environment: Environment,
  strict: boolean,
): ForeignDocument {
  const rules: MemberRules = found.shape === 'opencode' ? OPENCODE_RULES : COMMON_RULES
  const rewrite: RewriteVariables =
    found.shape === 'opencode' ? opencodeVariables : commonVariables(source.file, environment)
  const problems: ConfigProblem[] = []
  const translated = new Map<string, TranslatedEntry>()
  const servers = emptyTable()
  for (const [name, entry] of Object.entries(found.servers)) {
    if (!isTable(entry)) {
      servers[name] = entry
      continue
    }
    const one = translateEntry(entry, rules, rewrite)
    translated.set(name, one)
    servers[name] = one.entry
    problems.push(...one.notes.map((note) => problemOf(source, found.at, name, note, strict)))
  }
  if (found.shape === 'mcpServers') switchOff(source.root.mcp, servers)
  return { document: asOurs(source, found.at, servers, translated), problems }
}

function asOurs(
  source: SourceDocument,
  at: Path,
  servers: RawTable,
  translated: ReadonlyMap<string, TranslatedEntry>,
): SourceDocument {
  const written = (path: Path): Path => {
    const [section, name, member, ...rest] = path
    if (section !== 'mcp_servers') return path
    if (name === undefined) return at
    if (member === undefined) return [...at, name]
    const origin = translated.get(name)?.origins.get(member) ?? [member]
    // The parts of a member that was split don't lie where ours do.
    return origin.length === 1 && member !== 'args' ? [...at, name, ...origin, ...rest] : [...at, name, ...origin]
  }
  return {
    file: source.file,
    root: Object.assign(emptyTable(), { mcp_servers: servers }),
    duplicates: source.duplicates
      .filter((path) => at.every((part, index) => path[index] === part))
      .map((path) => ['mcp_servers', ...path.slice(at.length)]),
    position: (path) => source.position(written(path)),
    written,
  }
}

function problemOf(
  source: SourceDocument,
  at: Path,
  server: string,
  note: TranslatedEntry['notes'][number],
  strict: boolean,
): ConfigProblem {
  const path = [...at, server, ...note.member.split('.')]
  const unknown = note.code === 'unknown_member'
  const message = unknown ? `unknown configuration field \`${pathText(path)}\`${note.message}` : note.message
  return {
    severity: strict && unknown ? 'error' : 'warning',
    code: note.code,
    message,
    place: placeIn(source, path),
    server,
  }
}

/** Gemini CLI: `mcp.excluded` names servers that are off; with `mcp.allowed` all others are. */
function switchOff(settings: Raw | undefined, servers: Record<string, Raw>): void {
  if (!isTable(settings)) return
  const { allowed, excluded } = settings
  for (const [name, entry] of Object.entries(servers)) {
    const off =
      (Array.isArray(excluded) && excluded.includes(name)) || (Array.isArray(allowed) && !allowed.includes(name))
    if (off && isTable(entry)) servers[name] = Object.assign(emptyTable(), entry, { enabled: false })
  }
}

function noServers(source: SourceDocument): ConfigError {
  const close = Object.keys(source.root)
    .map((name) => [name, nearest(name, ['mcpServers', 'servers'])] as const)
    .find(([, known]) => known !== undefined)
  const hint = close === undefined ? '' : `; did you mean \`${close[1]}\` by \`${close[0]}\`?`
  return new ConfigError('no_servers', `holds none of \`mcpServers\`, \`servers\` and \`mcp\`${hint}`, {
    place: source.file,
  })
}
