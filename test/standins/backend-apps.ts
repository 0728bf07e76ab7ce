import type { BackendModel, BackendReply, SeenRequest } from './backend-model.js'

export const APPS_PATH = '/backend-api/ps/mcp'
export const APPS = { server: 'codex_apps' } as const

/** A tool as the server of the hosted apps lists it. */
export interface AppTool {
  readonly name: string
  readonly inputSchema: object
  readonly _meta?: unknown
  readonly [member: string]: unknown
}

export function appTool(name: string, meta: unknown, more: object = {}): AppTool {
  return { name, inputSchema: { type: 'object' }, _meta: meta, ...more }
}

/** What each account has; a reply in place of the tools is sent as it is. */
export function offerApps(
  { mcpResults }: BackendModel,
  tools: (account: string | null) => readonly AppTool[] | BackendReply,
): void {
  mcpResults.set(`${APPS_PATH} tools/list`, (account) => {
    const offered = tools(account)
    return 'status' in offered ? offered : { tools: offered }
  })
}

/** What reached the server of the hosted apps, in order. */
export function appsRequests({ requests }: BackendModel, rpc?: string): readonly SeenRequest[] {
  return requests.filter(
    ({ path, body, method }) =>
      path === APPS_PATH && (rpc === undefined || (method === 'POST' ? body.includes(`"${rpc}"`) : method === rpc)),
  )
}

/** Its answers go on being waited for. */
export const NO_ANSWER: BackendReply = { status: 200, fault: 'silent' }

/** An app that names its account in everything: what of it is seen elsewhere was let slip. */
export function privateApp(account: string): AppTool {
  return appTool(`${account}_calendar_create`, {
    connector_id: `conn-${account}`,
    connector_name: `${account} Calendar`,
    connector_description: `Meetings of ${account}`,
    _codex_apps: { link_id: `link-${account}`, icon: `https://icons.test/${account}.png` },
  })
}
