import { plugins, type Requirements, type ServerConfig } from '../../config/index.js'
import { ProtocolViolationError, RpcError } from '../../errors.js'
import { EXEC_METHODS } from '../../protocol/index.js'
import type { Environment } from '../environment.js'
import { configAnswerOf } from './answers.js'
import type { DiscoveryProblem } from './types.js'
import { workingFolder } from './working-folder.js'

export interface ExecutorConfigDiscovery {
  readonly servers: ReadonlyMap<string, ServerConfig>
  readonly requirements: readonly Requirements[]
  readonly problems: readonly DiscoveryProblem[]
}

const NOTHING: ExecutorConfigDiscovery = Object.freeze({ servers: new Map(), requirements: [], problems: [] })

/**
 * The HTTP servers of an executor's own configuration (reference: catalog, 9.1). Its stdio servers are told and left out
 * (known-quirks, 47). Nothing on the host, whose configuration is read elsewhere, and nothing where the executor doesn't
 * have `environmentConfig/read`.
 */
export async function discoverExecutorConfig(
  environment: Environment,
  cwd: string | undefined,
  signal?: AbortSignal,
): Promise<ExecutorConfigDiscovery> {
  if (environment.ask === undefined) return NOTHING
  if ((await environment.info()).capabilities?.environmentConfigRead !== true) return NOTHING
  try {
    const params = {
      cwd: await workingFolder(environment, cwd),
      configPaths: [['mcp_servers']],
      requirementsPaths: [['mcp_servers']],
    }
    const answer = await environment.ask(EXEC_METHODS.environmentConfigRead, params, { ...(signal && { signal }) })
    const { readExecutorConfig } = await plugins()
    const said = configAnswerOf(answer)
    const { servers, skipped, requirements, problems } = readExecutorConfig(
      said.layers,
      environment.id,
      said.requirements,
    )
    return {
      servers,
      requirements,
      problems: [
        ...problems.map(({ server, place, message }) => broken(environment, `${place}: ${message}`, server)),
        ...skipped.map((server) => skippedServer(environment, server)),
      ],
    }
  } catch (error) {
    if (!(error instanceof RpcError || error instanceof ProtocolViolationError)) throw error
    return { servers: new Map(), requirements: [], problems: [broken(environment, error.message)] }
  }
}

function broken({ id }: Environment, message: string, server?: string): DiscoveryProblem {
  const text = `configuration of environment '${id}': ${message}`
  return Object.freeze({
    code: 'broken_executor_config',
    environment: id,
    ...(server !== undefined && { server }),
    message: text,
  })
}

function skippedServer({ id }: Environment, server: string): DiscoveryProblem {
  const message = `MCP server '${server}' of the configuration of environment '${id}' is a stdio server: only its HTTP servers are used`
  return Object.freeze({ code: 'stdio_skipped', environment: id, server, message })
}
