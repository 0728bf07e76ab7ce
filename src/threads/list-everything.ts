import type { CapturedServer } from '../connections/index.js'
import { OperationTimeoutError } from '../errors.js'
import { allPages, hasCapability, type ListingHost, type ListKind } from './server-pages.js'
import type { AllPages, CallOptions, ListAllOptions, ListPage } from './types.js'

/** Ready servers are asked, in parallel; of those that are still coming up, what the cache knows is given. */
export async function listEverything(host: ListingHost, kind: ListKind, options: ListAllOptions): Promise<AllPages> {
  const { wait = 'grace', withinMs, ...call } = options
  const since = performance.now()
  const { servers, isWhole } = await captured(host, wait, withinMs, call.signal)
  const late = withinMs === undefined ? undefined : lateAfter(withinMs, performance.now() - since)
  const settled = await Promise.allSettled(servers.map((server) => ofServer(server, kind, call, late)))
  call.signal?.throwIfAborted()
  const pages: ListPage[] = []
  const failures: AllPages['failures'][number][] = []
  const stale = new Set<CapturedServer>()
  for (const [index, server] of servers.entries()) {
    const { key } = server
    const outcome = settled[index]
    if (outcome?.status !== 'fulfilled') {
      failures.push({ key, error: outcome?.reason instanceof Error ? outcome.reason.message : 'failed' })
    } else if (outcome.value !== undefined) {
      const { isStale, ...page } = outcome.value
      if (isStale) stale.add(server)
      pages.push({ key, ...page })
    }
  }
  const isComing = ({ live, error }: CapturedServer) => !live && error === undefined
  return { pages, failures, isWhole: isWhole && stale.size === 0 && !servers.some(isComing) }
}

/** Half of the time at most goes into waiting for what comes up; what is left is for those who are asked. */
async function captured(
  host: ListingHost,
  wait: NonNullable<ListAllOptions['wait']>,
  withinMs: number | undefined,
  signal: AbortSignal | undefined,
): Promise<{ readonly servers: readonly CapturedServer[]; readonly isWhole: boolean }> {
  const given = { ...(signal && { signal }) }
  if (withinMs === undefined) return { servers: await host.capture({ wait, ...given }), isWhole: true }
  const late = AbortSignal.timeout(Math.ceil(withinMs / 2))
  try {
    const both = signal === undefined ? late : AbortSignal.any([signal, late])
    return { servers: await host.capture({ wait, signal: both }), isWhole: true }
  } catch (error) {
    if (!late.aborted || signal?.aborted === true) throw error
    return { servers: await host.capture({ wait: 'none', ...given }), isWhole: false }
  }
}

interface Late {
  readonly withinMs: number
  readonly signal: AbortSignal
}

function lateAfter(withinMs: number, passedMs: number): Late {
  return { withinMs, signal: AbortSignal.timeout(Math.ceil(Math.max(withinMs / 2, withinMs - passedMs))) }
}

type Given = Omit<ListPage, 'key'> & { readonly isStale: boolean }

/** Undefined for a server that has no such thing. */
async function ofServer(
  server: CapturedServer,
  kind: ListKind,
  { signal }: CallOptions,
  late: Late | undefined,
): Promise<Given | undefined> {
  const { key, client, inventory, error } = server
  const known = inventory?.[kind.cached]
  const last = known && { items: known, isStale: true }
  if (client === undefined) {
    if (last === undefined && error !== undefined) throw error
    return last
  }
  if (!hasCapability(client, kind.capability)) return undefined
  if (late === undefined) return { ...(await allPages(key, client, kind.list, { signal })), isStale: false }
  const outage = server.outage()
  if (outage !== undefined && last === undefined) throw outage
  if (outage !== undefined) return last
  const both = signal === undefined ? late.signal : AbortSignal.any([signal, late.signal])
  try {
    return { ...(await allPages(key, client, kind.list, { signal: both })), isStale: false }
  } catch (fault) {
    if (!late.signal.aborted || signal?.aborted === true) throw fault
    if (last === undefined) throw new OperationTimeoutError(kind.list.method, late.withinMs, key)
    return last
  }
}
