import type { ThreadEvent } from '../threads/index.js'

/** What a thread says of plugins, roots, environments and names that do not work as asked. */
export type ThreadProblem = Extract<ThreadEvent, { readonly type: 'problem' }>['problem']

/** Whether servers are missing for it, not only something to know. */
export function isLack({ code }: ThreadProblem): boolean {
  return LACKS.has(code)
}

const LACKS: ReadonlySet<ThreadProblem['code']> = new Set<ThreadProblem['code']>([
  'environment_unavailable',
  'discovery_failed',
  'root_unreadable',
  'sandbox_unavailable',
  'not_a_plugin',
  'broken_manifest',
  'invalid_plugin_server',
  'broken_executor_config',
])
