import { homedir, tmpdir } from 'node:os'
import { basename } from 'node:path'
import { pathToFileURL } from 'node:url'
import { packageVersion } from '../implementation.js'
import type { ExecCapability, ExecEnvironmentInfo } from './environment.js'

/** What this machine says of itself (reference: executor-protocol, 9). */
export function hostInfo(
  cwd: string,
  variables: Readonly<Record<string, string | undefined>>,
  capabilities: Readonly<Partial<Record<ExecCapability, boolean>>> = {},
): ExecEnvironmentInfo {
  const shell = variables.SHELL || (process.platform === 'win32' ? (variables.ComSpec ?? 'cmd.exe') : '/bin/sh')
  return Object.freeze({
    shell: { name: basename(shell).replace(/\.exe$/i, ''), path: shell },
    executorVersion: packageVersion(),
    cwd: pathToFileURL(cwd).href,
    userHomeDir: pathToFileURL(variables.HOME || homedir()).href,
    platformOs: OS_NAMES[process.platform] ?? process.platform,
    prependPathDirs: [],
    temporaryDirectories: [],
    tempDir: pathToFileURL(tmpdir()).href,
    capabilities,
  })
}

const OS_NAMES: Partial<Record<NodeJS.Platform, string>> = { darwin: 'macos', win32: 'windows' }
