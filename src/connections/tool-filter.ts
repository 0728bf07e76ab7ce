import type { ServerConfig } from '../config/index.js'
import type { JsonObject } from '../protocol/index.js'

/**
 * Whether the configuration lets a tool through: listed in `enabled_tools` if there is such a list, and not in
 * `disabled_tools`. Raw names; deny beats allow (reference: catalog, 1.3).
 */
export function isToolEnabled(config: ServerConfig, tool: string): boolean {
  const listed = config.enabledTools === undefined || config.enabledTools.includes(tool)
  return listed && !(config.disabledTools?.includes(tool) ?? false)
}

export function enabledTools(config: ServerConfig, tools: readonly JsonObject[]): readonly JsonObject[] {
  return Object.freeze(tools.filter((tool) => isToolEnabled(config, String(tool.name))))
}
