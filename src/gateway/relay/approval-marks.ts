import type { JsonObject } from '../../protocol/index.js'
import { isObject } from './params.js'

/**
 * The member of `_meta` that holds what a server wrote where only we write: clients with rules for our approvals, or
 * Codex's, would take it for one.
 */
export const SERVER_META = 'reeve/server_meta'

/** What our approvals say of a call (reference: authority, 3), and what claims to be judged as one (6.2). */
const OF_APPROVALS: ReadonlySet<string> = new Set([
  'persist',
  'tool_name',
  'tool_title',
  'tool_description',
  'tool_annotations',
  'tool_params',
  'tool_params_display',
  'connector_id',
  'connector_name',
  'connector_description',
  'link_id',
  'link_is_implicit',
  'approvals_reviewer',
  SERVER_META,
])
const PREFIXES = ['codex_', 'codex/']

/** The params of a server's question, its members that look like an approval of ours set aside; the rest is as it came. */
export function withoutApprovalMarks(params: JsonObject): JsonObject {
  const { _meta } = params
  if (!isObject(_meta)) return params
  const members = Object.entries(_meta)
  const aside = members.filter(([member]) => looksLikeOurs(member))
  if (aside.length === 0) return params
  const kept = members.filter(([member]) => !looksLikeOurs(member))
  return { ...params, _meta: { ...Object.fromEntries(kept), [SERVER_META]: Object.fromEntries(aside) } }
}

/** The same in a result that asks for input, whose questions are handed to the client as they are. */
export function withoutApprovalMarksIn(result: JsonObject): JsonObject {
  const { inputRequests } = result
  if (!isObject(inputRequests)) return result
  const shown = Object.entries(inputRequests).map(([name, request]) => [name, shownRequest(request)])
  return { ...result, inputRequests: Object.fromEntries(shown) }
}

function shownRequest(request: JsonObject[string] | undefined): JsonObject[string] | undefined {
  if (!isObject(request) || request.method !== 'elicitation/create' || !isObject(request.params)) return request
  return { ...request, params: withoutApprovalMarks(request.params) }
}

function looksLikeOurs(member: string): boolean {
  const name = member.toLowerCase()
  return OF_APPROVALS.has(name) || PREFIXES.some((prefix) => name.startsWith(prefix))
}
