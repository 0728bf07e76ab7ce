import type { EnvironmentConnection } from '../../config/index.js'
import { EnvironmentError, ReeveError } from '../../errors.js'
import type { Environment } from '../environment.js'
import { commandConnector } from '../executor/command.js'
import { webSocketConnector } from '../executor/web-socket.js'
import type { Connector } from '../executor/wire.js'
import { connectingEnvironment } from './connecting-environment.js'
import type { EnvironmentDefinition } from './definition.js'

/** What connections are made with. */
export interface ConnectorContext {
  /** Where commands run: the host, so that they are journaled and ended like every process of ours. */
  readonly host: Pick<Environment, 'spawn'>
  /** The host's variables. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Working directory of commands that name none. Absolute. */
  readonly cwd: string
}

/**
 * How an executor is reached. Reads no variable and starts nothing before a connection is opened; a definition that can
 * never work fails at every opening, so that it is told where it is used.
 */
export function connectorOf({ id, connection }: EnvironmentDefinition, context: ConnectorContext): Connector {
  if (connection.kind === 'command') {
    const { program, args, env, cwd = context.cwd } = connection
    return commandConnector({
      environment: id,
      host: context.host,
      program,
      args,
      env: connectingEnvironment(process.platform, context.env, env),
      cwd,
    })
  }
  try {
    const { url, connectTimeoutMs } = connection
    const token = tokenOf(id, connection, context)
    return webSocketConnector({
      environment: id,
      url,
      ...(token !== undefined && { token }),
      // Zero would mean no limit there; a timer holds 24 days.
      ...(connectTimeoutMs !== undefined && { connectMs: Math.min(Math.max(connectTimeoutMs, 1), LONGEST_TIMER) }),
    })
  } catch (error) {
    if (!(error instanceof ReeveError)) throw error
    return failing(id, error)
  }
}

/** Milliseconds that a timer of Node can wait. */
export const LONGEST_TIMER = 2 ** 31 - 1

function tokenOf(
  id: string,
  { bearerToken, bearerTokenEnvVar: variable }: Extract<EnvironmentConnection, { kind: 'url' }>,
  { env }: ConnectorContext,
): string | (() => string) | undefined {
  if (variable === undefined) return bearerToken === '' ? undefined : bearerToken
  return () => {
    const value = Object.hasOwn(env, variable) ? env[variable] : undefined
    if (value !== undefined && value !== '') return value
    const text = `environment '${id}': the variable ${variable}, which holds its token, is not set`
    throw new EnvironmentError('environment_unauthorized', id, text, { data: { variable } })
  }
}

function failing(id: string, cause: ReeveError): Connector {
  const text = cause.message
  return {
    place: cause.place ?? `environment '${id}'`,
    resumable: false,
    open: async () => {
      throw new EnvironmentError('environment_unreachable', id, text, {
        ...(cause.place !== undefined && { place: cause.place }),
        cause,
      })
    },
  }
}
