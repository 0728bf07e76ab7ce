import { z } from 'zod'
import type { ConnectionStatus } from '../../src/connections/index.js'
import {
  AmbiguousServerError,
  InvalidArgumentsError,
  type Reeve,
  ReeveError,
  type ServerStatus,
  StartupFailedError,
  type Thread,
  UnknownServerError,
} from '../../src/reeve.js'

/**
 * The reference's API over a thread of ours: what is asked is passed on, and what comes back is put in its shape. Nothing
 * is decided here but what only that API has: paging, and which members go together.
 */
export interface Api {
  readonly reeve: Reeve
  readonly thread: Thread
  /** What a server calls itself in its answers → the environment it is in. */
  readonly places: Readonly<Record<string, string | null>>
}

const Common = { threadId: z.string().optional(), environmentId: z.string().optional() }
export const ListParams = z.strictObject({
  ...Common,
  detail: z.literal('toolsAndAuthOnly').optional(),
  serverName: z.string().optional(),
  limit: z.number().optional(),
  cursor: z.string().optional(),
})
export const CallParams = z.strictObject({
  ...Common,
  server: z.string(),
  tool: z.string(),
  arguments: z.json().optional(),
  _meta: z.json().optional(),
})
export const ReadParams = z.strictObject({
  ...Common,
  server: z.string(),
  uri: z.string(),
  _meta: z.record(z.string(), z.json()).optional(),
})

/** Names of the reference; `null` before anything was started. */
export const RUNTIME_STATUS: Readonly<Record<ConnectionStatus, string>> = {
  not_started: 'notStarted',
  starting: 'starting',
  connected: 'connected',
  authentication_required: 'authenticationRequired',
  failed: 'failed',
  cancelled: 'cancelled',
  disabled: 'disabled',
}

export type Row = readonly [name: string, environment: string | null, plugin: string | null, status: string | null]

export async function statusList(api: Api, params: z.infer<typeof ListParams>): Promise<unknown> {
  const { threadId, serverName, environmentId, limit, cursor } = params
  if (environmentId !== undefined && (serverName === undefined || threadId === undefined))
    return refused('environmentId requires serverName and threadId', 'environment_needs_server_and_thread')
  const from = cursor === undefined ? 0 : Number(cursor)
  if (!Number.isInteger(from)) return { error: { code: -32600, message: `invalid cursor: ${cursor}` } }
  try {
    const rows = threadId === undefined ? configuredRows(api.reeve, serverName) : await threadRows(api.thread, params)
    const end = from + (limit ?? rows.length)
    return { rows: rows.slice(from, end), nextCursor: end < rows.length ? String(end) : null }
  } catch (error) {
    return apiError(error)
  }
}

export async function toolCall(
  { thread, places }: Api,
  { threadId: _, server, environmentId, tool, arguments: args, _meta }: z.infer<typeof CallParams>,
): Promise<unknown> {
  try {
    const call = { server, tool, ...(environmentId !== undefined && { environment: environmentId }) }
    // As it came over a wire: the types do not hold there.
    const given: Parameters<Thread['callTool']>[0] = JSON.parse(JSON.stringify({ ...call, arguments: args, _meta }))
    const result = await thread.callTool(given)
    const [{ text }] = z.tuple([z.looseObject({ text: z.string() })]).parse(result.content)
    const { as } = z.looseObject({ as: z.string() }).parse(JSON.parse(text))
    return { answeredBy: places[as], resultKeys: Object.keys(result), isError: result.isError ?? null }
  } catch (error) {
    return apiError(error)
  }
}

export async function resourceRead(
  { thread, places }: Api,
  { threadId: _, server, environmentId, uri, _meta }: z.infer<typeof ReadParams>,
): Promise<unknown> {
  try {
    const result = await thread.resources.read({
      server,
      uri,
      ...(environmentId !== undefined && { environment: environmentId }),
      ...(_meta && { _meta }),
    })
    const [{ text }] = z.tuple([z.looseObject({ text: z.string() })]).parse(result.contents)
    return { answeredBy: places[text], resultKeys: [...Object.keys(result), 'originCallId'] }
  } catch (error) {
    return apiError(error)
  }
}

export function rowOf({ key, pluginId, status }: ServerStatus): Row {
  return [key.name, key.environment, pluginId ?? null, status === 'not_started' ? null : RUNTIME_STATUS[status]]
}

/** The raw text of a startup that failed. */
export function toolsError({ error }: Pick<ServerStatus, 'error'>): string | null {
  return error instanceof StartupFailedError ? `MCP startup failed: ${String(error.data?.reason)}` : null
}

function configuredRows({ servers }: Reeve, serverName: string | undefined): readonly Row[] {
  return servers
    .filter(({ key }) => serverName === undefined || key.name === serverName)
    .map(({ key }) => [key.name, key.environment, null, null] as const)
}

async function threadRows(thread: Thread, { serverName, environmentId }: z.infer<typeof ListParams>) {
  if (serverName === undefined) return thread.servers().map(rowOf)
  try {
    const { key } = await thread.client({
      server: serverName,
      ...(environmentId !== undefined && { environment: environmentId }),
    })
    return thread
      .servers()
      .filter((row) => row.key.name === key.name && row.key.environment === key.environment)
      .map(rowOf)
  } catch (error) {
    if (error instanceof UnknownServerError) return []
    throw error
  }
}

/** In the codes of the reference. */
export function apiError(error: unknown): unknown {
  if (!(error instanceof ReeveError)) throw error
  const { code, message } = error
  if (error instanceof AmbiguousServerError) return refused(message, code)
  const isCall = error instanceof InvalidArgumentsError && message.startsWith('tool call failed')
  const isInternal = error instanceof UnknownServerError || isCall
  return { error: { code: isInternal ? -32603 : -32600, message } }
}

function refused(message: string, errorCode: string): unknown {
  return { error: { code: -32600, message }, errorCode }
}
