import type { ApprovalMode, ToolSettings } from '../config/index.js'
import type { Registration } from './types.js'

/**
 * A registration with what its author may say of approvals. What an environment contributed, plugin or configuration, is
 * written by whoever can write there: `approve` acts as `auto`, so that its tools are asked about as if it said nothing,
 * and what is stricter holds. Only the host loosens (reference: known-quirks, 30).
 */
export function asContributed(registration: Registration): Registration {
  const { key, config } = registration
  if (key.environment === null || !loosens(registration)) return registration
  const { defaultToolsApprovalMode, tools } = config
  return {
    ...registration,
    config: {
      ...config,
      ...(defaultToolsApprovalMode && { defaultToolsApprovalMode: noLooser(defaultToolsApprovalMode) }),
      tools: Object.fromEntries(Object.entries(tools).map(([name, tool]) => [name, held(tool)])),
    },
  }
}

function loosens({ config: { defaultToolsApprovalMode, tools } }: Registration): boolean {
  return (
    defaultToolsApprovalMode === 'approve' ||
    Object.values(tools).some(({ approvalMode }) => approvalMode === 'approve')
  )
}

function held(tool: ToolSettings): ToolSettings {
  return tool.approvalMode === undefined ? tool : { ...tool, approvalMode: noLooser(tool.approvalMode) }
}

function noLooser(mode: ApprovalMode): ApprovalMode {
  return mode === 'approve' ? 'auto' : mode
}
