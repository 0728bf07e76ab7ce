import { type EnvironmentEntry, maskConnection, shellWord } from '../../config/index.js'

/** How an environment is reached, in one masked line: its URL, or its command line. */
export function shownWay(entry: Pick<EnvironmentEntry, 'connection' | 'written'>): string {
  const connection = maskConnection(entry.written ?? entry.connection)
  if (connection.kind === 'url') return connection.url
  return [connection.program, ...connection.args].map(shellWord).join(' ')
}

/** The members of an entry in `--json`, masked; absent ones are null. */
export function entryMembers(entry: EnvironmentEntry): Record<string, unknown> {
  const connection = maskConnection(entry.written ?? entry.connection)
  const { origin } = entry
  return {
    kind: connection.kind,
    ...(connection.kind === 'url'
      ? {
          url: connection.url,
          auth_bearer_token: connection.bearerToken ?? null,
          auth_bearer_token_env_var: connection.bearerTokenEnvVar ?? null,
          connect_timeout_sec: inSeconds(connection.connectTimeoutMs),
        }
      : { program: connection.program, args: connection.args, env: connection.env, cwd: connection.cwd ?? null }),
    initialize_timeout_sec: inSeconds(entry.initializeTimeoutMs),
    workspace: entry.cwd ?? null,
    permissions: entry.permissions ?? null,
    source: { file: origin.file, line: origin.line ?? null },
  }
}

function inSeconds(milliseconds: number | undefined): number | null {
  return milliseconds === undefined ? null : milliseconds / 1000
}
