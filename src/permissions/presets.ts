import { PermissionProfileError } from '../errors.js'
import { isAbsolutePath, type PathStyle, pathRules } from './path-style.js'
import type { FileSystemEntry, NetworkPolicy, PermissionProfile } from './types.js'

export type PresetName = 'read-only' | 'workspace-write' | 'danger-full-access'

export interface PresetOptions {
  /** Absolute; the folder that `workspace-write` lets be written to. */
  readonly cwd: string
  /** Further folders of that sort; absolute. */
  readonly workspaceRoots?: readonly string[]
  /** Default: restricted. Nothing to `danger-full-access`. */
  readonly network?: NetworkPolicy
  /** Of the environment that the profile governs. Default: posix. */
  readonly style?: PathStyle
  /** `workspace-write` without the folder that `TMPDIR` names. */
  readonly excludeTmpdir?: boolean
  /** `workspace-write` without `/tmp`. */
  readonly excludeSlashTmp?: boolean
}

/** Folders that stay read-only in a folder that may be written to: what they hold is run, or trusted, by other programs. */
export const PROTECTED_FOLDERS = Object.freeze(['.git', '.agents', '.codex', '.aws'] as const)

/**
 * The profile of a preset, as it is sent to servers (reference: authority, 8, "Workspace-write as sent").
 *
 * @throws PermissionProfileError for a folder that is not absolute
 */
export function presetProfile(preset: PresetName, options: PresetOptions): PermissionProfile {
  if (preset === 'danger-full-access') return Object.freeze({ type: 'disabled' })
  const writable = preset === 'workspace-write' ? workspaceEntries(options) : []
  return Object.freeze({
    type: 'managed',
    file_system: Object.freeze({
      type: 'restricted',
      entries: Object.freeze([special('root', 'read'), ...writable]),
    }),
    network: options.network ?? 'restricted',
  })
}

function workspaceEntries(options: PresetOptions): readonly FileSystemEntry[] {
  const { cwd, workspaceRoots = [], style = 'posix', excludeTmpdir = false, excludeSlashTmp = false } = options
  const roots = [...new Set([cwd, ...workspaceRoots])]
  for (const root of roots) {
    if (!isAbsolutePath(root, style)) {
      throw new PermissionProfileError(`a workspace root must be an absolute path: \`${root}\``, { place: root })
    }
  }
  return [
    ...roots.map((root) => pathEntry(root, 'write')),
    ...(excludeSlashTmp ? [] : [special('slash_tmp', 'write')]),
    ...(excludeTmpdir ? [] : [special('tmpdir', 'write')]),
    ...roots.flatMap((root) =>
      PROTECTED_FOLDERS.map((folder) =>
        Object.freeze({
          ...pathEntry(pathRules(style).join(root, folder), 'read'),
          missing_path_behavior: 'skip',
        } as const),
      ),
    ),
  ]
}

function pathEntry(path: string, access: 'read' | 'write'): FileSystemEntry {
  return Object.freeze({ path: Object.freeze({ type: 'path', path } as const), access })
}

function special(kind: 'root' | 'slash_tmp' | 'tmpdir', access: 'read' | 'write'): FileSystemEntry {
  return Object.freeze({
    path: Object.freeze({ type: 'special', value: Object.freeze({ kind }) } as const),
    access,
  })
}
