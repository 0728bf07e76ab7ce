import type { AppPolicy, ApprovalMode } from '../../config/index.js'
import type { JsonObject } from '../../protocol/index.js'
import { connectorOf, member } from './connector.js'

/** `[apps]` of the configuration, by connector id; `_default` holds where an app's own says nothing. */
export type AppPolicies = ReadonlyMap<string, AppPolicy>

const DEFAULT = '_default'

/** Whether a tool of the hosted apps may be used at all (reference: tool-calls, 2, step 6). */
export function isAppToolEnabled(policies: AppPolicies, definition: JsonObject): boolean {
  const { id } = connectorOf(definition)
  const own = id === undefined ? undefined : policies.get(id)
  const byDefault = policies.get(DEFAULT)
  if ((own?.enabled ?? byDefault?.enabled) === false) return false
  const said = toolPolicy(own, definition)?.enabled ?? own?.defaultToolsEnabled ?? byDefault?.defaultToolsEnabled
  if (said !== undefined) return said
  const { annotations } = definition
  // What a tool does not say of itself is the worse of the two.
  const may = (allowed: boolean | undefined, hint: string) => allowed !== false || member(annotations, hint) === false
  return (
    may(own?.destructiveEnabled ?? byDefault?.destructiveEnabled, 'destructiveHint') &&
    may(own?.openWorldEnabled ?? byDefault?.openWorldEnabled, 'openWorldHint')
  )
}

/** How calls of a tool are approved, where the configuration says so. */
export function appApprovalMode(policies: AppPolicies, definition: JsonObject): ApprovalMode | undefined {
  const { id } = connectorOf(definition)
  const own = id === undefined ? undefined : policies.get(id)
  return (
    toolPolicy(own, definition)?.approvalMode ??
    own?.defaultToolsApprovalMode ??
    policies.get(DEFAULT)?.defaultToolsApprovalMode
  )
}

function toolPolicy(policy: AppPolicy | undefined, { name }: JsonObject) {
  return typeof name === 'string' ? policy?.tools.get(name) : undefined
}
