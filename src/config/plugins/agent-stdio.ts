import { fault } from '../schema/shape.js'
import { isTable, type Path, type Raw, type RawTable, rawCopy, shortened } from '../source/raw.js'
import type { ContainedPath } from './contained.js'
import { inside, pathRules } from './paths.js'

/** Where an Agent Plugin and its data are; absolute, in the form of their machine. */
export interface AgentFolders {
  readonly root: string
  /** Lasting and writable: `PLUGIN_DATA`. */
  readonly data: string
}

/**
 * A stdio server of an Agent Plugin, in the shape of a configuration (reference: catalog, 7.3), and the paths that must
 * also lie inside once links are followed.
 *
 * @throws ConfigError that names the member
 */
export function agentStdioEntry(
  declared: RawTable,
  path: Path,
  folders: AgentFolders,
): { readonly entry: Record<string, Raw>; readonly paths: readonly Omit<ContainedPath, 'server'>[] } {
  const expand = expansion(folders)
  const command = commandOf(declared.command, [...path, 'command'], folders.root)
  const cwd = cwdOf(declared.cwd, [...path, 'cwd'], folders, expand)
  const entry = {
    command: command.path ?? command.name,
    args: texts(declared.args ?? [], [...path, 'args']).map(expand),
    env: variablesOf(declared.env ?? {}, [...path, 'env'], folders, expand),
    cwd: cwd.path,
  }
  const paths: Omit<ContainedPath, 'server'>[] = [cwd]
  if (command.path !== undefined)
    paths.push({ member: 'command', path: command.path, within: folders.root, may: 'not be new' })
  return { entry, paths }
}

/** Both placeholders, once and from left to right: what a value brings in is not looked at again. */
function expansion({ root, data }: AgentFolders): (text: string) => string {
  return (text) => text.replace(/\$\{PLUGIN_(ROOT|DATA)\}/g, (_, which) => (which === 'ROOT' ? root : data))
}

function commandOf(
  command: Raw | undefined,
  path: Path,
  root: string,
): { readonly name: string; readonly path?: string } {
  if (typeof command !== 'string' || command === '')
    throw fault('missing_member', 'a stdio server has a `command`', path)
  if (command.startsWith('./')) {
    const program = inside(root, command)
    if (program !== undefined && program !== pathRules(root).normalize(root)) return { name: command, path: program }
  } else if (isBareName(command, root)) return { name: command }
  const message = `command \`${shortened(command)}\` must be the bare name of a program, or a path inside the plugin that starts with \`./\``
  throw fault('invalid_value', message, path)
}

/** Nothing that a system could read as a path. */
function isBareName(command: string, root: string): boolean {
  if (/[/\\\p{Cc}]/u.test(command) || command !== command.trim() || command === '.' || command === '..') return false
  return !(pathRules(root).sep === '\\' && command.includes(':'))
}

/** `./…`, `${PLUGIN_ROOT}…` or `${PLUGIN_DATA}…`; the plugin's root by default. */
function cwdOf(
  cwd: Raw | undefined,
  path: Path,
  folders: AgentFolders,
  expand: (text: string) => string,
): Omit<ContainedPath, 'server'> {
  if (cwd !== undefined && typeof cwd !== 'string') throw fault('wrong_type', 'cwd must be a string', path)
  const [, start, rest = ''] = CWD.exec(cwd ?? './') ?? []
  const ofData = start?.endsWith('DATA}') ?? false
  const within = ofData ? folders.data : folders.root
  const found = start === undefined ? undefined : inside(within, `.${expand(rest)}`)
  if (found !== undefined && !found.includes('\0'))
    return { member: 'cwd', path: found, within, may: ofData ? 'be new' : 'not be new' }
  const message = `cwd \`${shortened(cwd ?? '')}\` must be a path inside the plugin or its data: \`./…\`, \`\${PLUGIN_ROOT}…\` or \`\${PLUGIN_DATA}…\``
  throw fault('outside_root', message, path)
}

const CWD = /^(\.(?=\/)|\$\{PLUGIN_(?:ROOT|DATA)\}(?=\/|$))(.*)$/su

function variablesOf(env: Raw, path: Path, folders: AgentFolders, expand: (text: string) => string): RawTable {
  if (!isTable(env)) throw fault('wrong_type', 'env must be an object of strings', path)
  const windows = pathRules(folders.root).sep === '\\'
  const variables = new Map<string, string>()
  for (const [written, value] of Object.entries(env)) {
    const name = windows ? written.toUpperCase() : written
    if (RESERVED.includes(name)) throw fault('invalid_value', `env must not set \`${name}\``, path)
    if (name === '' || /[=\0]/.test(name))
      throw fault('invalid_value', 'env has a name that no variable can have', path)
    if (variables.has(name)) throw fault('invalid_value', `env has \`${shortened(name)}\` twice`, path)
    if (typeof value !== 'string') throw fault('wrong_type', 'env must be an object of strings', path)
    variables.set(name, expand(value))
  }
  const table = rawCopy({ ...Object.fromEntries(variables), PLUGIN_ROOT: folders.root, PLUGIN_DATA: folders.data })
  return isTable(table) ? table : {}
}

const RESERVED = ['PLUGIN_ROOT', 'PLUGIN_DATA']

function texts(value: Raw, path: Path): readonly string[] {
  if (Array.isArray(value) && value.every((item): item is string => typeof item === 'string')) return value
  throw fault('wrong_type', 'args must be a list of strings', path)
}
