import type { ConfiguredServer } from '../../config/index.js'
import { LISTS, listAllPages, type ServerStatus } from '../../connections/index.js'
import { ReeveError } from '../../errors.js'
import { displayKey, type ServerKey } from '../../identity/index.js'
import type { ToolThread } from '../../threads/index.js'
import { isObject } from '../calling/schema-type.js'
import type { Finding } from './finding.js'
import { type StartupWatch, slowStart } from './startup-watch.js'
import { toolFindings } from './tool-findings.js'

/** What became of one server. */
export interface ExaminedServer {
  readonly status: ServerStatus
  /** Milliseconds. */
  readonly startMs: number | undefined
  readonly tools: number | undefined
  readonly findings: readonly Finding[]
}

/** Looks at every server of a thread whose startups have ended. */
export async function examineServers(
  thread: ToolThread,
  watch: StartupWatch,
  servers: readonly ConfiguredServer[],
  signal: AbortSignal,
): Promise<ExaminedServer[]> {
  return Promise.all(
    thread.servers().map(async (status) => {
      const startMs = watch.took(status.key)
      const place = placeOf(status.key, servers)
      if (status.status !== 'connected')
        return { status, startMs, tools: undefined, findings: failureFindings(status, place) }
      const { tools, findings } = await examineTools(thread, status.key, signal)
      return { status, startMs, tools, findings: [...slowStart(status.key, place, startMs), ...findings] }
    }),
  )
}

function failureFindings({ key, status, error }: ServerStatus, place: string): Finding[] {
  if (status === 'disabled') return []
  return [
    {
      severity: 'error',
      code: error?.code ?? `server_${status}`,
      key,
      place,
      message: error?.message ?? `did not come up (${status})`,
    },
  ]
}

/** The list as the server gives it: before filters, and with what is left out elsewhere. */
async function examineTools(
  thread: ToolThread,
  key: ServerKey,
  signal: AbortSignal,
): Promise<{ tools: number | undefined; findings: Finding[] }> {
  try {
    const { client } = await thread.client({ server: key.name, environment: key.environment }, { signal })
    if (!isObject(client.capabilities.tools)) return { tools: 0, findings: [] }
    const { items } = await listAllPages((method, params) => client.request(method, params, { signal }), LISTS.tools)
    return { tools: items.length, findings: toolFindings(key, items.filter(isObject)) }
  } catch (error) {
    if (!(error instanceof ReeveError)) throw error
    const place = `${displayKey(key)} ${LISTS.tools.method}`
    return { tools: undefined, findings: [{ severity: 'error', code: error.code, key, place, message: error.message }] }
  }
}

/** Where the server's entry stands. */
function placeOf(key: ServerKey, servers: readonly ConfiguredServer[]): string {
  const origin = servers.find(({ name }) => name === key.name)?.origin
  if (origin === undefined) return displayKey(key)
  return `${origin.file}${origin.line === undefined ? '' : `:${origin.line}`} mcp_servers.${key.name}`
}
