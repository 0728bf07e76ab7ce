import { createHash } from 'node:crypto'
import type { EnvironmentConnection } from '../../config/index.js'

/** What makes one environment another one: where it is, and how it is reached. */
export interface EnvironmentDefinition {
  readonly id: string
  readonly connection: EnvironmentConnection
  /** Milliseconds; absent = 10,000. */
  readonly initializeTimeoutMs?: number
}

/** SHA-256 in lower-case hex over every member of a definition: it shows none of them. */
export function definitionHandle({ id, connection, initializeTimeoutMs }: EnvironmentDefinition): string {
  const members = connection.kind === 'url' ? urlMembers(connection) : commandMembers(connection)
  const text = JSON.stringify([id, connection.kind, initializeTimeoutMs ?? null, ...members])
  return createHash('sha256').update(text, 'utf8').digest('hex')
}

function urlMembers(connection: Extract<EnvironmentConnection, { kind: 'url' }>): readonly unknown[] {
  const { url, connectTimeoutMs, bearerToken, bearerTokenEnvVar } = connection
  return [url, connectTimeoutMs ?? null, bearerToken ?? null, bearerTokenEnvVar ?? null]
}

function commandMembers({
  program,
  args,
  env,
  cwd,
}: Extract<EnvironmentConnection, { kind: 'command' }>): readonly unknown[] {
  const variables = Object.entries(env).sort(([a], [b]) => (a < b ? -1 : 1))
  return [program, args, variables, cwd ?? null]
}
