import { dirname, resolve } from 'node:path'
import { isAbsoluteSomewhere } from '../environments/read-entry.js'
import type { SectionReading } from '../environments/read-sections.js'
import { optional } from '../optional.js'
import { fault, text, wrongType } from '../schema/shape.js'
import { isTable, type Path, placeIn, type Raw, shortened } from '../source/raw.js'
import { checkedName, permissionProfile, sandboxMode, workspaceWrite } from './members.js'
import type {
  ChosenProfile,
  PermissionSections,
  ProfileRule,
  ProfileSettings,
  WorkspaceWriteSettings,
} from './settings.js'

const NONE: PermissionSections = Object.freeze({ profiles: new Map(), broken: new Set<string>(), isBroken: false })

/**
 * `sandbox_mode`, `[sandbox_workspace_write]`, `default_permissions` and `[permissions]` of one `config.toml`, by the names
 * and the meaning that Codex gives them. Each broken profile is one problem and stops only itself; a choice that can't be
 * read is no looser one.
 */
export function readPermissions(reading: SectionReading): PermissionSections {
  const { sandbox_mode, sandbox_workspace_write, default_permissions, permissions } = reading.document.root
  const all = [sandbox_mode, sandbox_workspace_write, default_permissions, permissions]
  if (all.every((section) => section === undefined)) return NONE
  const mode = told(reading, sandbox_mode, (value) => sandboxMode.read(value, ['sandbox_mode'], reading))
  const writing = told(reading, sandbox_workspace_write, (value) => readWorkspaceWrite(reading, value))
  const chosen = told(reading, default_permissions, (value) => readChosen(reading, value))
  const isBroken = [mode, writing, chosen].some((one) => one.is === 'broken')
  return Object.freeze({
    ...optional('mode', mode.value),
    ...optional('workspaceWrite', writing.value),
    ...optional('chosen', chosen.value),
    ...readProfiles(reading, permissions),
    isBroken,
  })
}

function told<Value>(reading: SectionReading, value: Raw | undefined, read: (value: Raw) => Value) {
  if (value === undefined) return { is: 'absent', value: undefined } as const
  const found = reading.attempt(() => read(value))
  return found === undefined ? ({ is: 'broken', value: undefined } as const) : ({ is: 'told', value: found } as const)
}

function readChosen(reading: SectionReading, value: Raw): ChosenProfile {
  const name = text.read(value, ['default_permissions'], reading)
  return Object.freeze({ name, place: placeIn(reading.document, ['default_permissions']) })
}

function readWorkspaceWrite(reading: SectionReading, value: Raw): WorkspaceWriteSettings {
  const path = ['sandbox_workspace_write']
  const members = workspaceWrite.read(value, path, reading)
  const roots = members.writable_roots?.map((root) => folderOf(reading, root, [...path, 'writable_roots']))
  return Object.freeze({
    ...optional('writableRoots', roots && Object.freeze(roots)),
    ...optional('networkAccess', members.network_access),
    ...optional('excludeTmpdir', members.exclude_tmpdir_env_var),
    ...optional('excludeSlashTmp', members.exclude_slash_tmp),
  })
}

function readProfiles(reading: SectionReading, section: Raw | undefined) {
  const profiles = new Map<string, ProfileSettings>()
  const broken = new Set<string>()
  if (section === undefined) return { profiles, broken }
  const entries = reading.attempt(() => {
    if (!isTable(section)) throw wrongType(section, 'a map', ['permissions'])
    return Object.entries(section)
  })
  for (const [name, value] of entries ?? []) {
    const profile = reading.attempt(() => readProfile(reading, checkedName(name, ['permissions', name]), value))
    if (profile === undefined) broken.add(name)
    else profiles.set(name, profile)
  }
  return { profiles, broken }
}

function readProfile(reading: SectionReading, name: string, value: Raw): ProfileSettings {
  const path = ['permissions', name]
  const { document, options } = reading
  const { extends: parent, workspace_roots, filesystem, network } = permissionProfile.read(value, path, reading)
  const roots = Object.entries(workspace_roots ?? {}).flatMap(([root, isOn]) =>
    isOn ? [folderOf(reading, root, [...path, 'workspace_roots', root])] : [],
  )
  const at = [...path, 'filesystem']
  const rules = Object.entries(filesystem?.rules ?? {}).flatMap(([place, given]) =>
    typeof given === 'string'
      ? [ruleOf(place, undefined, given, [...at, place])]
      : Object.entries(given).map(([subpath, access]) => ruleOf(place, subpath, access, [...at, place, subpath])),
  )
  // Rules that only a proxy could hold to: with the network open they would be none.
  const limits = (['domains', 'unix_sockets', 'mode'] as const).filter((member) => network?.[member] !== undefined)
  if (network?.enabled === true && limits.length > 0) {
    const message = `can't be told to servers: the network of this profile stays closed`
    for (const member of limits) reading.warn('unsupported_member', message, [...path, 'network', member])
  }
  const isOpen = network?.enabled === undefined ? undefined : network.enabled && limits.length === 0
  const origin = { file: document.file, layer: options.layer, ...optional('line', document.position(path)?.line) }
  return Object.freeze({
    name,
    ...optional('extends', parent),
    workspaceRoots: Object.freeze(roots),
    rules: Object.freeze(rules),
    ...optional('globScanMaxDepth', filesystem?.depth),
    ...optional('network', isOpen),
    origin: Object.freeze(origin),
  })
}

/** What a special path that takes entries below it is called. */
const WORKSPACE = ':workspace_roots'
const PLAIN_SPECIAL: readonly string[] = [':root', ':minimal', ':tmpdir', ':slash_tmp']

function ruleOf(place: string, given: string | undefined, access: ProfileRule['access'], at: Path): ProfileRule {
  const isSpecial = place.startsWith(':')
  if (!isSpecial && !isAbsoluteSomewhere(place) && place !== '~' && !place.startsWith('~/')) {
    const message = `\`${shortened(place)}\` must be an absolute path, one below \`~/\`, or begin with \`:\``
    throw fault('relative_path', message, at)
  }
  checkText(place, at)
  if (given === undefined || given === '.') return Object.freeze({ path: readable(place, access, at), access })
  if (PLAIN_SPECIAL.includes(place)) throw fault('invalid_value', `\`${place}\` takes no entries below it`, at)
  checkText(given, at)
  if (given.split(/[\\/]/).some((part) => part === '' || part === '.' || part === '..')) {
    const message = `\`${shortened(given)}\` must lead to something below \`${shortened(place)}\`, without \`.\` and \`..\``
    throw fault('invalid_value', message, at)
  }
  if (isPattern(place) || (isPattern(given) && isSpecial && place !== WORKSPACE))
    throw fault('invalid_value', `patterns below \`${shortened(place)}\` are not possible`, at)
  return Object.freeze({ path: place, subpath: readable(given, access, at), access })
}

/** A pattern can only deny; one that only says "and all below" is that folder. */
function readable(path: string, access: ProfileRule['access'], at: Path): string {
  if (access === 'deny' || !isPattern(path)) return path
  const folder = path.replace(/\/\*\*$/, '')
  if (folder !== '' && !isPattern(folder)) return folder
  const message = `the pattern \`${shortened(path)}\` can only deny: name a folder, or end it with \`/**\``
  throw fault('invalid_value', message, at)
}

function isPattern(path: string): boolean {
  return /[*?[\]]/.test(path)
}

function checkText(path: string, at: Path): void {
  if (path.includes('\0')) throw fault('invalid_value', 'has a NUL character', at)
}

/** Folders may be named from the file's own, as in Codex. */
function folderOf({ document }: SectionReading, folder: string, at: Path): string {
  checkText(folder, at)
  if (folder.trim() === '') throw fault('empty', 'the path of a folder cannot be empty', at)
  if (isAbsoluteSomewhere(folder) || folder === '~' || folder.startsWith('~/')) return folder
  return resolve(dirname(resolve(document.file)), folder)
}
