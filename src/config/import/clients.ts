import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Environment } from '../expand.js'
import type { Path } from '../source/raw.js'

export type ClientId =
  | 'claude-code'
  | 'claude-desktop'
  | 'cursor'
  | 'windsurf'
  | 'vscode'
  | 'codex'
  | 'gemini'
  | 'opencode'

/** A file of a client that may hold servers. */
export interface ClientSource {
  readonly client: ClientId
  readonly file: string
  /** `project`: it lies in a project, so somebody else may have written it. */
  readonly scope: 'user' | 'project'
  readonly format: 'mcpServers' | 'servers' | 'opencode' | 'codex'
  /** Members from the root to the table of servers; the first that is there counts. */
  readonly tables: readonly Path[]
  /** The project's folder, where its servers run. */
  readonly folder?: string
}

/** Where to look; everything can be moved, so that nothing depends on the machine. */
export interface ClientWorld {
  /** The user's home folder. */
  readonly home: string
  readonly cwd: string
  readonly env: Environment
  readonly platform: NodeJS.Platform
}

/** In the order in which the first one wins when the same name comes twice. */
export const CLIENTS: ReadonlyMap<ClientId, string> = new Map<ClientId, string>([
  ['claude-code', 'Claude Code'],
  ['claude-desktop', 'Claude Desktop'],
  ['cursor', 'Cursor'],
  ['windsurf', 'Windsurf'],
  ['vscode', 'VS Code'],
  ['codex', 'Codex'],
  ['gemini', 'Gemini CLI'],
  ['opencode', 'opencode'],
])

/** Every file in which a client may keep servers, by the client's own precedence, whether it exists or not. */
export function clientSources(client: ClientId, world: ClientWorld): readonly ClientSource[] {
  return SOURCES[client](world, projectFolder(world))
}

const SOURCES: Readonly<Record<ClientId, (world: ClientWorld, project: string) => readonly ClientSource[]>> = {
  'claude-code': (world, project) => {
    const settings = join(named(world, 'CLAUDE_CONFIG_DIR') ?? world.home, '.claude.json')
    const ofProject = [world.cwd, project].map((folder) => ['projects', folder, 'mcpServers'])
    return [
      // Kept by the user for one project alone, so it is the user's own and runs there.
      { ...json('claude-code', settings, 'user'), tables: ofProject, folder: project },
      { ...json('claude-code', join(project, '.mcp.json'), 'project'), folder: project },
      json('claude-code', settings, 'user'),
    ]
  },
  'claude-desktop': (world) => [
    json('claude-desktop', join(appData(world), 'Claude', 'claude_desktop_config.json'), 'user'),
  ],
  cursor: (world, project) => [
    { ...json('cursor', join(project, '.cursor', 'mcp.json'), 'project'), folder: project },
    json('cursor', join(world.home, '.cursor', 'mcp.json'), 'user'),
  ],
  windsurf: (world) => [json('windsurf', join(world.home, '.codeium', 'windsurf', 'mcp_config.json'), 'user')],
  vscode: (world, project) => {
    const user = join(appData(world), 'Code', 'User')
    const tables = { format: 'servers', tables: [['servers'], ['mcp', 'servers']] } as const
    return [
      { ...json('vscode', join(project, '.vscode', 'mcp.json'), 'project'), ...tables, folder: project },
      { ...json('vscode', join(user, 'mcp.json'), 'user'), ...tables },
      { ...json('vscode', join(user, 'settings.json'), 'user'), ...tables },
    ]
  },
  codex: (world, project) => {
    const codex = { client: 'codex', format: 'codex', tables: [['mcp_servers']] } as const
    const home = named(world, 'CODEX_HOME') ?? join(world.home, '.codex')
    return [
      { ...codex, file: join(project, '.codex', 'config.toml'), scope: 'project', folder: project },
      { ...codex, file: join(home, 'config.toml'), scope: 'user' },
    ]
  },
  gemini: (world, project) => [
    { ...json('gemini', join(project, '.gemini', 'settings.json'), 'project'), folder: project },
    json('gemini', join(world.home, '.gemini', 'settings.json'), 'user'),
  ],
  opencode: (world, project) => {
    const user = join(named(world, 'XDG_CONFIG_HOME') ?? join(world.home, '.config'), 'opencode')
    const places = [
      { folder: project, scope: 'project' },
      { folder: user, scope: 'user' },
    ] as const
    return places.flatMap(({ folder, scope }) =>
      ['opencode.json', 'opencode.jsonc'].map((name) => ({
        ...json('opencode', join(folder, name), scope),
        format: 'opencode' as const,
        tables: [['mcp']],
        ...(scope === 'project' && { folder }),
      })),
    )
  },
}

function json(client: ClientId, file: string, scope: ClientSource['scope']): ClientSource {
  return { client, file, scope, format: 'mcpServers', tables: [['mcpServers']] }
}

/** Where desktop programs keep their settings. */
function appData(world: ClientWorld): string {
  if (world.platform === 'darwin') return join(world.home, 'Library', 'Application Support')
  if (world.platform === 'win32') return named(world, 'APPDATA') ?? join(world.home, 'AppData', 'Roaming')
  return named(world, 'XDG_CONFIG_HOME') ?? join(world.home, '.config')
}

function named(world: ClientWorld, variable: string): string | undefined {
  const value = world.env[variable]
  return value === undefined || value === '' ? undefined : resolve(world.cwd, value)
}

/** The nearest folder with a repository, else the working directory. */
function projectFolder({ cwd }: ClientWorld): string {
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    if (existsSync(join(folder, '.git'))) return folder
    if (dirname(folder) === folder) return resolve(cwd)
  }
}
