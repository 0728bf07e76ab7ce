import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import type { SandboxTree } from './sandbox-tree.js'

/** One row: a profile, and what goes with it. */
export interface ProfileRow {
  readonly name: string
  readonly profile: (tree: SandboxTree) => unknown
  readonly flags?: readonly string[]
  /** Of the caller, instead of the tree's `tmp`. */
  readonly tmpdir?: string
  readonly cwd?: string
  readonly prepare?: (tree: SandboxTree) => Promise<void>
}

type Access = 'read' | 'write' | 'deny' | 'none'

const special = (kind: string, access: Access, more: object = {}) => ({
  path: { type: 'special', value: { kind, ...more } },
  access,
})
const path = (at: string, access: Access, more: object = {}) => ({ path: { type: 'path', path: at }, access, ...more })
const glob = (pattern: string, access: Access) => ({ path: { type: 'glob_pattern', pattern }, access })
const restricted = (entries: readonly unknown[], more: object = {}, network = 'restricted') => ({
  type: 'managed',
  file_system: { type: 'restricted', entries, ...more },
  network,
})

const ROOT = special('root', 'read')

/** A profile that may read everything and write the workspace, and what `more` says of paths of the tree. */
function workspace(...more: ((at: SandboxTree['at']) => unknown)[]): ProfileRow['profile'] {
  return ({ at }) => restricted([ROOT, path(at('ws'), 'write'), ...more.map((entry) => entry(at))])
}

const row = (
  name: string,
  profile: ProfileRow['profile'],
  more: Omit<ProfileRow, 'name' | 'profile'> = {},
): ProfileRow => ({
  name,
  profile,
  ...more,
})

export const PROFILES: readonly ProfileRow[] = [
  row('read only', () => restricted([ROOT])),
  row('read only, network', () => restricted([ROOT], {}, 'enabled')),
  row('read only, network taken away', () => restricted([ROOT], {}, 'enabled'), {
    flags: ['--sandbox-state-disable-network'],
  }),
  row('workspace', workspace()),
  row('workspace, network', ({ at }) => restricted([ROOT, path(at('ws'), 'write')], {}, 'enabled')),
  row('workspace as sent', ({ at }) =>
    restricted([
      ROOT,
      path(at('ws'), 'write'),
      special('slash_tmp', 'write'),
      special('tmpdir', 'write'),
      ...['.git', '.agents', '.codex', '.aws'].map((name) =>
        path(at(`ws/${name}`), 'read', { missing_path_behavior: 'skip' }),
      ),
    ]),
  ),
  row('disabled', () => ({ type: 'disabled' })),
  row('external', () => ({ type: 'external', network: 'enabled' })),
  row('unrestricted, no network', () => ({
    type: 'managed',
    file_system: { type: 'unrestricted' },
    network: 'restricted',
  })),
  row('unrestricted, network', () => ({ type: 'managed', file_system: { type: 'unrestricted' }, network: 'enabled' })),
  row('legacy object', ({ at }) => ({ network: { enabled: false }, file_system: { read: ['/'], write: [at('ws')] } })),
  row('legacy object, network', () => ({ network: { enabled: true }, file_system: { read: ['/'] } })),

  row('minimal', ({ at }) => restricted([special('minimal', 'read'), path(at('ws'), 'write')])),
  row('minimal, reading beside', ({ at }) =>
    restricted([special('minimal', 'read'), path(at('ws'), 'read'), path(at('link'), 'read')]),
  ),
  row('minimal without the cwd', () => restricted([special('minimal', 'read')])),
  row('nothing at all', () => restricted([])),
  row('project roots', () => restricted([ROOT, special('project_roots', 'write')])),
  row('a part of the project', () => restricted([ROOT, special('project_roots', 'write', { subpath: 'sub' })])),
  row('a missing part of the project', () =>
    restricted([ROOT, special('project_roots', 'write', { subpath: 'missing' })]),
  ),
  row('a part that leads out', () => restricted([ROOT, special('project_roots', 'write', { subpath: '../other' })])),
  row('current working directory', () => restricted([ROOT, special('current_working_directory', 'write')])),
  row('slash tmp', () => restricted([ROOT, special('slash_tmp', 'write')])),
  row('tmpdir', () => restricted([ROOT, special('tmpdir', 'write')])),
  row('tmpdir, relative', () => restricted([ROOT, special('tmpdir', 'write')]), { tmpdir: 'sub' }),
  row('tmpdir, the root', () => restricted([ROOT, special('tmpdir', 'write')]), { tmpdir: '/' }),
  row('unknown special path, write', () => restricted([ROOT, special('unknown', 'write', { path: ':later' })])),
  row('unknown special path, deny', () => restricted([ROOT, special('unknown', 'deny', { path: ':later' })])),

  row(
    'denied folder',
    workspace((at) => path(at('other'), 'deny')),
  ),
  row(
    'denied folder, old name',
    workspace((at) => path(at('other'), 'none')),
  ),
  row(
    'denied file',
    workspace((at) => path(at('other/secret.txt'), 'deny')),
  ),
  row(
    'denied in the workspace',
    workspace((at) => path(at('ws/.env'), 'deny')),
  ),
  row(
    'denied and missing',
    workspace((at) => path(at('ws/missing'), 'deny')),
  ),
  row(
    'denied through a link',
    workspace((at) => path(at('link/secret.txt'), 'deny')),
  ),
  row(
    'denied through a link of the workspace',
    workspace((at) => path(at('ws/out'), 'deny')),
  ),
  row(
    'denied repository',
    workspace((at) => path(at('ws/.git'), 'deny')),
  ),
  row(
    'denied workspace',
    workspace((at) => path(at('ws'), 'deny')),
  ),
  row(
    'denied around the workspace',
    workspace((at) => path(at('.'), 'deny')),
  ),
  row(
    'denied, read in it',
    workspace(
      (at) => path(at('other'), 'deny'),
      (at) => path(at('other/deep'), 'read'),
    ),
  ),
  row(
    'denied, written in it',
    workspace(
      (at) => path(at('other'), 'deny'),
      (at) => path(at('other/deep'), 'write'),
    ),
  ),
  row(
    'denied and readable root',
    workspace((at) => path(at('other'), 'deny')),
    {
      flags: ['--sandbox-state-readable-root', 'other'],
    },
  ),

  row(
    'read in the workspace',
    workspace((at) => path(at('ws/sub'), 'read')),
  ),
  row(
    'read in the workspace, missing',
    workspace((at) => path(at('ws/missing'), 'read')),
  ),
  row(
    'written in what is read',
    workspace(
      (at) => path(at('ws/sub'), 'read'),
      (at) => path(at('ws/sub/in'), 'write'),
    ),
  ),
  row(
    'read and written',
    workspace((at) => path(at('ws'), 'read')),
  ),
  row(
    'written repository',
    workspace((at) => path(at('ws/.git'), 'write')),
  ),
  row(
    'root within a root',
    workspace((at) => path(at('ws/sub'), 'write')),
  ),
  row('one file to write', ({ at }) => restricted([ROOT, path(at('ws/top.txt'), 'write')])),
  row('a missing root', ({ at }) => restricted([ROOT, path(at('nowhere'), 'write')])),
  row('a root through a link', ({ at }) => restricted([ROOT, path(at('link'), 'write')])),
  row('a root with dots', ({ at }) => restricted([ROOT, path(`${at('ws')}/../other`, 'write')])),
  row('everything but', ({ at }) => restricted([special('root', 'write'), path(at('other'), 'deny')])),
  row('everything but writing', ({ at }) => restricted([special('root', 'write'), path(at('other'), 'read')])),
  row('everything written', () => restricted([path('/', 'write')])),

  row(
    'repository elsewhere',
    workspace((at) => path(at('other'), 'write')),
    {
      async prepare({ at }) {
        await rm(at('ws/.git'), { recursive: true })
        await writeFile(at('ws/.git'), `gitdir: ${at('other/deep')}\n`)
      },
    },
  ),
  row('repository by a link', workspace(), {
    async prepare({ at }) {
      await rm(at('ws/.git'), { recursive: true })
      await symlink('sub', at('ws/.git'))
    },
  }),
  row('settings there already', workspace(), {
    async prepare({ at }) {
      await mkdir(at('ws/.codex'))
    },
  }),

  row(
    'pattern',
    workspace((at) => glob(at('other/*.txt'), 'deny')),
  ),
  row(
    'pattern of any depth',
    workspace((at) => glob(at('other/**/*.txt'), 'deny')),
  ),
  row(
    'pattern in the workspace',
    workspace((at) => glob(at('ws/**/*.env'), 'deny')),
  ),
  row(
    'pattern of the cwd',
    workspace(() => glob('**/*.env', 'deny')),
  ),
  row(
    'pattern with a set',
    workspace((at) => glob(at('other/[r-t]ecre?.txt'), 'deny')),
  ),
  row('pattern of limited depth', ({ at }) =>
    restricted([ROOT, glob(at('other/**/*.txt'), 'deny')], { glob_scan_max_depth: 1 }),
  ),
  row(
    'pattern of folders',
    workspace((at) => glob(at('other/de*'), 'deny')),
  ),
  row(
    'pattern of links',
    workspace((at) => glob(at('li*'), 'deny')),
  ),
  row(
    'pattern that matches nothing',
    workspace((at) => glob(at('other/*.none'), 'deny')),
  ),
  row(
    'pattern in a missing folder',
    workspace((at) => glob(at('nowhere/*.txt'), 'deny')),
  ),
  row(
    'pattern with braces',
    workspace((at) => glob(at('other/{secret,x}.*'), 'deny')),
  ),
  row(
    'pattern that is none',
    workspace((at) => glob(at('other/[s'), 'deny')),
  ),
  row(
    'pattern of the root',
    workspace(() => glob('/*/secret.txt', 'deny')),
  ),
  row(
    'pattern that only reads',
    workspace((at) => glob(at('ws/s*'), 'read')),
  ),
  row(
    'pattern that writes',
    workspace((at) => glob(at('other/*'), 'write')),
  ),
]
