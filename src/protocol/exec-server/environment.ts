/** Reference: executor-protocol, 9. Paths are `file:` URIs, except the shell's. */
export interface ExecEnvironmentInfo {
  readonly shell: { readonly name: string; readonly path: string }
  readonly cwd?: string | null
  readonly executorVersion?: string | null
  readonly providerId?: string | null
  readonly userHomeDir?: string | null
  readonly platformOs?: string | null
  readonly prependPathDirs?: readonly string[]
  readonly temporaryDirectories?: readonly string[]
  readonly tempDir?: string | null
  /** A flag that is missing is false. Newer methods are called only when theirs is set. */
  readonly capabilities?: Readonly<Partial<Record<ExecCapability, boolean>>>
}

export type ExecCapability =
  | 'networkProxyLaunch'
  | 'networkProxyReviewDomains'
  | 'networkProxyTransparentTcp'
  | 'credentialMasking'
  | 'credentialMaskingCustomProviders'
  | 'capabilityDiscoverySandbox'
  | 'fsWatchMissing'
  | 'capabilityDiscoveryV2'
  | 'environmentConfigRead'
  | 'httpHeaderEnvVars'
  | 'sandboxedFileStreaming'
  | 'fileWriteStreaming'
  | 'shellSnapshotV2'
  | 'windowsMxc'
  | 'linuxRootWritePreservesDevices'
  | 'linuxApprovedRootWritePreservesRestrictions'

export interface ExecEnvironmentStatus {
  readonly status: string
}
