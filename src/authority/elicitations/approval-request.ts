import type { JsonObject } from '../../protocol/index.js'
import { asObject, type ElicitationParams, isEmptyForm, metaOf } from './request.js'

/**
 * A server that asks for the approval of something that it is about to do. `malformed`: it says that it does, and does
 * not say what.
 */
export type ApprovalRequestReading =
  | { readonly kind: 'none' | 'malformed' }
  | { readonly kind: 'request'; readonly tool: string; readonly title?: string; readonly params: JsonObject }

/** Reference: authority, 6.2. */
export function readApprovalRequest(params: ElicitationParams): ApprovalRequestReading {
  if (metaOf(params, 'codex_request_type') !== 'approval_request') return { kind: 'none' }
  const tool = metaOf(params, 'tool_name')
  const title = metaOf(params, 'tool_title')
  const given = metaOf(params, 'tool_params')
  const toolParams = given === undefined ? {} : asObject(given)
  const isWellFormed =
    metaOf(params, 'codex_approval_kind') === 'mcp_tool_call' && typeof tool === 'string' && tool.trim() !== ''
  if (!isWellFormed || toolParams === undefined || !isEmptyForm(params)) return { kind: 'malformed' }
  return { kind: 'request', tool, params: toolParams, ...(typeof title === 'string' && { title }) }
}
