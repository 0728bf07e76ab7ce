import type { JsonObject } from '../../protocol/index.js'
import { modeOf } from './request.js'
import type { SurfacedElicitation } from './router.js'

/** Params of `mcpServer/elicitation/request`: the server's question as it came, after where it comes from. */
export function clientRequestParams({ key, turnId, params }: SurfacedElicitation, threadId: string): JsonObject {
  const from = { threadId, turnId, serverName: key.name, environmentId: key.environment }
  const { mode: _mode, _meta, ...question } = params
  // Twice: it comes first, and a server that uses these names does not change it.
  return { ...from, mode: modeOf(params), _meta: _meta ?? null, ...question, ...from }
}
