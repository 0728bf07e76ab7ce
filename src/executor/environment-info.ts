import { homedir, tmpdir } from 'node:os'
import { basename } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type ExecEnvironmentInfo, packageVersion } from '../protocol/index.js'
import type { Variables } from './processes/env-policy.js'

/** What the executor says of its machine (reference: executor-protocol, 9). A flag that is missing is false. */
export function environmentInfo(cwd: string, variables: Variables): ExecEnvironmentInfo {
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
    capabilities: { httpHeaderEnvVars: true, fileWriteStreaming: true },
  })
}

const OS_NAMES: Partial<Record<NodeJS.Platform, string>> = { darwin: 'macos', win32: 'windows' }
