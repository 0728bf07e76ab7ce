import {
  described,
  fault,
  flag,
  integer,
  list,
  map,
  oneOf,
  type Shape,
  table,
  text,
  wrongType,
} from '../schema/shape.js'
import { isTable, type Raw } from '../source/raw.js'
import type { ProfileRule } from './settings.js'

/** `sandbox_mode`. */
export const sandboxMode = oneOf('read-only', 'workspace-write', 'danger-full-access')

/** `[sandbox_workspace_write]`. */
export const workspaceWrite = table({
  writable_roots: described(list(text), 'Further folders that may be written to; absolute, or below `~`.'),
  network_access: described(flag, 'Whether the network may be used.', { default: false }),
  exclude_tmpdir_env_var: described(flag, 'Not the folder that TMPDIR names.', { default: false }),
  exclude_slash_tmp: described(flag, 'Not /tmp.', { default: false }),
})

type Access = ProfileRule['access']

/** `none` is the older word for `deny`. */
const access: Shape<Access> = {
  schema: { enum: ['read', 'write', 'deny'] },
  read(value, path, notes) {
    const found = oneOf('read', 'write', 'deny', 'none').read(value, path, notes)
    return found === 'none' ? 'deny' : found
  },
}

const scoped = map(access)

/** The access to a path, or to several below it. */
const rule: Shape<Access | Readonly<Record<string, Access>>> = {
  schema: { anyOf: [access.schema, scoped.schema] },
  read: (value, path, notes) => (isTable(value) ? scoped.read(value, path, notes) : access.read(value, path, notes)),
}

const depth = integer('a nonzero usize', 1n, 0xffffffffn)

interface FileSystemMembers {
  readonly depth?: number
  readonly rules: Readonly<Record<string, Access | Readonly<Record<string, Access>>>>
}

/** Paths by name, and one member beside them. */
const fileSystem: Shape<FileSystemMembers> = {
  schema: {
    type: 'object',
    properties: { glob_scan_max_depth: described(depth, 'How many folders deep patterns look.').schema },
    additionalProperties: rule.schema,
  },
  read(value, path, notes) {
    if (!isTable(value)) throw wrongType(value, 'a map', path)
    const { glob_scan_max_depth: deep, ...paths } = value
    const rules = map(rule).read(withoutPrototype(paths), path, notes)
    return { rules, ...(deep !== undefined && { depth: depth.read(deep, [...path, 'glob_scan_max_depth'], notes) }) }
  },
}

function withoutPrototype(members: Readonly<Record<string, Raw>>): Record<string, Raw> {
  return Object.assign(Object.create(null), members)
}

/** What a proxy of Codex would do; there is none here, and a profile on the wire can't say it. */
const anything: Shape<Raw> = { schema: {}, read: (value) => value }

/** `[permissions.<name>]`. */
export const permissionProfile = table({
  description: described(text, 'What it is for.'),
  extends: described(text, 'The profile or preset whose rules hold where this one has none.'),
  workspace_roots: described(map(flag), 'Folders that count as workspace, too: absolute, or below `~`.'),
  filesystem: described(
    fileSystem,
    'Access by path: absolute, below `~`, or `:root`, `:workspace_roots` and the like.',
  ),
  network: described(
    table({
      enabled: described(flag, 'Whether the network may be used.', { default: false }),
      mode: anything,
      domains: anything,
      unix_sockets: anything,
      proxy_url: anything,
      enable_socks5: anything,
      socks_url: anything,
      enable_socks5_udp: anything,
      allow_upstream_proxy: anything,
      allow_local_binding: anything,
      dangerously_allow_non_loopback_proxy: anything,
      dangerously_allow_all_unix_sockets: anything,
    }),
    'What of the network.',
  ),
})

/** The name of a profile that is not a preset's. */
export function checkedName(name: string, path: readonly string[]): string {
  if (name.trim() === '') throw fault('empty', 'the name of a profile cannot be empty', path)
  if (name.startsWith(':'))
    throw fault('reserved_name', `\`${name}\`: names that begin with a colon are the presets' own`, path)
  return name
}

/** What editors are told. */
export const PERMISSION_SECTIONS = {
  sandbox_mode: {
    description: 'What servers are told that commands may do, where no profile is chosen.',
    ...sandboxMode.schema,
  },
  sandbox_workspace_write: { description: 'What `workspace-write` allows beside it.', ...workspaceWrite.schema },
  default_permissions: {
    description: 'The profile that servers are told: of [permissions], or a preset.',
    ...text.schema,
    examples: [':read-only', ':workspace', ':danger-full-access'],
  },
  permissions: { description: 'Permission profiles by name.', ...map(permissionProfile).schema },
}
