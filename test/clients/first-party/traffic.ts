import {
  BackendModel,
  type BackendReply,
  type BackendRequest,
  json,
  type SeenRequest,
} from '../../standins/backend-model.js'

const APPS_PATH = '/backend-api/ps/mcp'
const KNOWN = /\/mcp$|^\/oauth\/|^\/agent\/|^\/storage\/|\/files|\/analytics-events\//

/** The backend for two clients that are compared: hosted apps have a connector, and what is not known is not found. */
export class ComparedBackend extends BackendModel {
  readonly #waiting = new Set<() => void>()

  override handle(request: BackendRequest): BackendReply {
    const reply = super.handle(request)
    for (const look of this.#waiting) look()
    if (!KNOWN.test(request.path)) return json(404, {})
    return request.path === APPS_PATH ? withConnector(reply) : reply
  }

  /** When what came is what was waited for. */
  came(fits: (requests: readonly SeenRequest[]) => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (!fits(this.requests)) return
        this.#waiting.delete(look)
        resolve()
      }
      this.#waiting.add(look)
      look()
    })
  }
}

function withConnector(reply: BackendReply): BackendReply {
  const { result, ...rest } = JSON.parse(reply.body ?? '{}')
  if (!Array.isArray(result?.tools)) return reply
  const tools = result.tools.map((tool: { _meta?: object }) => ({
    ...tool,
    _meta: { ...tool._meta, connector_id: 'connector_1', connector_name: 'Box' },
  }))
  return json(200, { ...rest, result: { tools } })
}

/** The hosted app's tool that takes a file. */
export const FILE_TOOL = 'take'

/** What a request of the comparison is; undefined where it is no part of it. */
export function kindOf({ method, path, body }: SeenRequest, server: string): string | undefined {
  const rpc = /"method":"([^"]+)"/.exec(body)?.[1] ?? method
  if (path === server) return rpc
  if (path === APPS_PATH) return `apps: ${rpc}`
  if (path === '/agent/register') return 'registration'
  if (path === '/oauth/token') return 'refresh'
  if (path === '/oauth/revoke') return 'revocation'
  if (path === '/backend-api/files') return 'upload: create'
  if (path.startsWith('/storage/')) return 'upload: store'
  if (path.endsWith('/uploaded')) return 'upload: finalise'
  return body.includes('codex_mcp_tool_call_event') ? 'analytics' : undefined
}
