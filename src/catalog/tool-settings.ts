import type { ApprovalMode, ServerConfig } from '../config/index.js'

/** A tool's own mode, else the server's, else `auto`; `auto` too for a server that is unknown (reference: catalog, 1.3). */
export function approvalModeOf(config: ServerConfig | undefined, tool: string): ApprovalMode {
  const own = config && Object.hasOwn(config.tools, tool) ? config.tools[tool] : undefined
  return own?.approvalMode ?? config?.defaultToolsApprovalMode ?? 'auto'
}
