import type { HookListing } from '../../authority/index.js'
import type { HookEntry } from '../../config/index.js'
import type { Cli } from '../cli.js'

/** A hook of a file, with what is known of it here. */
export interface ShownHook {
  /** What `trust` and `untrust` may call it, from 1. */
  readonly number: number
  readonly listing: HookListing
  readonly entry: HookEntry
}

/** What keeps a hook from running; undefined: nothing does. */
export function hindrance({ trust, isEnabled }: HookListing): string | undefined {
  if (trust === 'untrusted') return 'not trusted'
  if (trust === 'modified') return 'not the one that was trusted'
  return isEnabled || trust === 'managed' ? undefined : 'switched off'
}

export function hookJson({ number, listing, entry }: ShownHook): Record<string, unknown> {
  const { handler, origin } = entry
  const reason = hindrance(listing)
  return {
    number,
    key: listing.key,
    event: listing.event,
    matcher: listing.matcher ?? null,
    server: listing.server ?? null,
    environment_id: listing.environment ?? null,
    handler: {
      type: handler.type,
      ...(handler.type === 'command' && { command: handler.command }),
      ...(handler.type === 'mcp_tool' && {
        server: handler.server,
        tool: handler.tool,
        environment_id: handler.environment ?? null,
      }),
      ...(handler.type === 'broken' && { reason: handler.reason }),
      timeout_sec: handler.timeoutMs / 1000,
      on_failure: handler.onFailure,
    },
    source: { file: origin.file, layer: origin.layer, line: origin.line ?? null },
    trust: listing.trust,
    enabled: listing.isEnabled,
    current_hash: listing.currentHash,
    runs: reason === undefined,
    reason: reason ?? null,
  }
}

export function showHooks(cli: Cli, hooks: readonly ShownHook[]): void {
  const somewhere = hooks.some(({ listing }) => listing.server !== undefined || listing.environment !== undefined)
  cli.out.table(hooks, [
    { title: 'NO', value: ({ number }) => String(number) },
    { title: 'EVENT', value: ({ listing }) => listing.event },
    { title: 'MATCHER', value: ({ listing }) => listing.matcher ?? '*' },
    ...(somewhere ? [{ title: 'OF', value: ({ listing }: ShownHook) => ownerOf(listing) }] : []),
    { title: 'HOOK', value: ({ entry }) => whatIsRun(entry) },
    { title: 'FILE', value: ({ entry: { origin } }) => placeOf(origin) },
    { title: 'TRUST', value: ({ listing }) => listing.trust },
    {
      title: 'RUNS',
      value: ({ listing }) => hindrance(listing) ?? 'yes',
      paint: (text, { listing }) => (hindrance(listing) === undefined ? cli.style.green(text) : cli.style.dim(text)),
    },
  ])
}

export function placeOf({ file, line }: HookEntry['origin']): string {
  return line === undefined ? file : `${file}:${line}`
}

function ownerOf({ server = '*', environment }: HookListing): string {
  return environment === undefined ? server : `${server} (${environment})`
}

function whatIsRun({ handler }: HookEntry): string {
  switch (handler.type) {
    case 'command':
      return handler.command
    case 'mcp_tool':
      return `${handler.server}/${handler.tool}`
    case 'broken':
      return `fails: ${handler.reason}`
  }
}
