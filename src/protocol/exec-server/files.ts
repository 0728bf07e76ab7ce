/** Reference: executor-protocol, 8. Every path is a `file:` URI; times are milliseconds since 1970, 0 when unknown. */
export interface ExecPathParams {
  readonly path: string
  readonly sandbox?: unknown
  readonly followSymlinks?: boolean | null
}

export interface ExecReadFileResult {
  readonly dataBase64: string
}

export interface ExecWriteFileParams extends ExecPathParams {
  readonly dataBase64: string
}

export interface ExecCreateDirectoryParams extends ExecPathParams {
  /** True when absent. */
  readonly recursive?: boolean | null
}

export interface ExecMetadata {
  /** The kinds are those of the target of a link. */
  readonly isDirectory: boolean
  readonly isFile: boolean
  readonly isSymlink: boolean
  readonly size: number
  readonly createdAtMs: number
  readonly modifiedAtMs: number
}

export interface ExecCanonicalizeResult {
  readonly path: string
}

export interface ExecDirectoryEntry {
  readonly fileName: string
  readonly isDirectory: boolean
  readonly isFile: boolean
}

export interface ExecReadDirectoryResult {
  readonly entries: readonly ExecDirectoryEntry[]
}

export interface ExecWalkOptions {
  readonly maxDepth: number
  readonly maxDirectories: number
  readonly maxEntries: number
  readonly followDirectorySymlinks: boolean
  readonly pruneHiddenDirectories?: boolean | null
}

export interface ExecWalkParams extends ExecPathParams {
  readonly options: ExecWalkOptions
}

export interface ExecWalkResult {
  readonly entries: readonly { readonly path: string; readonly kind: 'file' | 'directory' }[]
  readonly errors: readonly { readonly path: string; readonly message: string }[]
  readonly truncated: boolean
}

export interface ExecRemoveParams extends ExecPathParams {
  /** Both are true when absent. */
  readonly recursive?: boolean | null
  readonly force?: boolean | null
}

export interface ExecCopyParams {
  readonly sourcePath: string
  readonly destinationPath: string
  readonly recursive: boolean
  readonly sandbox?: unknown
}

export interface ExecOpenParams extends ExecPathParams {
  /** At most 32 bytes. */
  readonly handleId: string
  readonly mode?: 'read' | 'replace' | null
}

export interface ExecHandle {
  readonly handleId: string
}

export interface ExecReadBlockParams extends ExecHandle {
  readonly offset: number
  /** 1 to 1 MiB. */
  readonly len: number
}

export interface ExecReadBlockResult {
  readonly chunk: string
  /** True only when fewer bytes came than were asked for. */
  readonly eof: boolean
}

export interface ExecWriteBlockParams extends ExecHandle {
  readonly offset: number
  readonly chunk: string
}

export interface ExecWatchMissingParams {
  readonly watchId: number
  readonly missing: readonly string[]
  readonly present?: string | null
}
