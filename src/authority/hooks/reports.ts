import type { HookEvent } from '../../config/index.js'
import type { Definition } from './definitions.js'
import type { Verdict } from './output.js'
import type { HookCall, HookReport, HookRun } from './types.js'

const EVENTS = {
  PreToolUse: { name: 'preToolUse', label: 'pre-tool-use' },
  PermissionRequest: { name: 'permissionRequest', label: 'permission-request' },
  PostToolUse: { name: 'postToolUse', label: 'post-tool-use' },
} as const satisfies Record<HookEvent, { readonly name: HookRun['eventName']; readonly label: string }>

/** `hook/started` (reference: authority, 7.6). */
export function startedReport(definition: Definition, call: HookCall, startedAt: number): HookReport {
  const { event, handlerType, sourcePath, source, displayOrder, handler, key } = definition
  const { name, label } = EVENTS[event]
  return Object.freeze({
    type: 'hook/started',
    threadId: call.threadId,
    turnId: call.turnId,
    run: Object.freeze({
      id: `${label}:${displayOrder}:${sourcePath ?? key}:${call.callId}`,
      eventName: name,
      handlerType,
      executionMode: 'sync',
      scope: 'turn',
      sourcePath,
      source,
      displayOrder,
      status: 'running',
      statusMessage: handler.statusMessage ?? null,
      startedAt,
      completedAt: null,
      durationMs: null,
      entries: [],
    }),
  })
}

/** `hook/completed`. */
export function completedReport({ run, ...about }: HookReport, verdict: Verdict, completedAt: number): HookReport {
  const { status, entries } = verdict
  const durationMs = completedAt - run.startedAt
  return Object.freeze({
    ...about,
    type: 'hook/completed',
    run: Object.freeze({ ...run, status, completedAt, durationMs, entries: Object.freeze([...entries]) }),
  })
}
