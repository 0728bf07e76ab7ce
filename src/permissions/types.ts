/** A permission profile in its wire shape (reference: authority, 8). Unknown members of an object survive in `PermissionState`. */
export type PermissionProfile =
  | { readonly type: 'managed'; readonly file_system: FileSystemPolicy; readonly network: NetworkPolicy }
  | { readonly type: 'disabled' }
  | { readonly type: 'external'; readonly network: NetworkPolicy }

export type NetworkPolicy = 'restricted' | 'enabled'

export type FileSystemPolicy =
  | { readonly type: 'unrestricted' }
  | {
      readonly type: 'restricted'
      readonly entries: readonly FileSystemEntry[]
      readonly glob_scan_max_depth?: number
    }

export interface FileSystemEntry {
  readonly path: FileSystemPath
  /** The old `none` reads as `deny`. */
  readonly access: 'read' | 'write' | 'deny'
  readonly missing_path_behavior?: 'skip'
}

export type FileSystemPath =
  | { readonly type: 'path'; readonly path: string }
  | { readonly type: 'glob_pattern'; readonly pattern: string }
  | { readonly type: 'special'; readonly value: SpecialPath }

export type SpecialPath =
  | { readonly kind: 'root' | 'minimal' | 'current_working_directory' | 'tmpdir' | 'slash_tmp' }
  | { readonly kind: 'project_roots'; readonly subpath?: string }
  | { readonly kind: 'unknown'; readonly path: string; readonly subpath?: string }

/** When a person is asked (reference: authority, 2). */
export type ApprovalPolicy = 'untrusted' | 'on-request' | 'never' | { readonly granular: GranularPolicy }

export interface GranularPolicy {
  readonly sandbox_approval: boolean
  readonly rules: boolean
  readonly skill_approval: boolean
  readonly request_permissions: boolean
  readonly mcp_elicitations: boolean
}
