import type { ApprovalMode, PluginPolicy, PluginServerPolicy, ServerConfig, ToolSettings } from '../config/index.js'
import type { Registration } from './types.js'

/**
 * A plugin's server as the host's configuration wants it. The plugin id is the root id of a selected root, or
 * `plugin@marketplace` for an installed plugin, which then holds in every environment.
 *
 * On a server that an environment contributed, approval modes only tighten: `approve` acts as `auto`, `writes` as
 * `prompt`, and the stricter of that and the plugin's own counts. A pair of environment and plugin that the host trusts
 * is taken at its word.
 */
export function underPluginOverlay(
  registration: Registration,
  overlays: ReadonlyMap<string, PluginPolicy>,
  isTrusted: (environment: string, pluginId: string) => boolean = () => false,
): Registration {
  const { key, source, config } = registration
  const overlay = 'plugin' in source ? overlays.get(source.plugin.id) : undefined
  if (!('plugin' in source) || overlay === undefined) return registration
  const server = overlay.servers.get(key.name) ?? {}
  const tightensOnly = key.environment !== null && !isTrusted(key.environment, source.plugin.id)
  return {
    ...registration,
    config: {
      ...config,
      enabled: (overlay.enabled ?? true) && (server.enabled ?? config.enabled),
      ...filters(server),
      ...(tightensOnly ? tightened(config, server) : asWritten(config, server)),
    },
  }
}

function filters({ enabledTools, disabledTools }: PluginServerPolicy) {
  return { ...(enabledTools && { enabledTools }), ...(disabledTools && { disabledTools }) }
}

type Modes = Pick<ServerConfig, 'defaultToolsApprovalMode' | 'tools'>

function asWritten(config: ServerConfig, { defaultToolsApprovalMode, tools = {} }: PluginServerPolicy): Modes {
  return {
    ...(defaultToolsApprovalMode && { defaultToolsApprovalMode }),
    tools: eachTool(config, tools, (own, over) => ({ ...own, ...over })),
  }
}

function tightened(config: ServerConfig, { defaultToolsApprovalMode, tools = {} }: PluginServerPolicy): Modes {
  const ownDefault = config.defaultToolsApprovalMode
  const overDefault = defaultToolsApprovalMode
  return {
    ...(overDefault && { defaultToolsApprovalMode: stricter(overDefault, ownDefault) }),
    tools: eachTool(config, tools, (own, over) => {
      const mode = over.approvalMode ?? overDefault
      return {
        ...own,
        ...over,
        ...(mode && { approvalMode: stricter(mode, own.approvalMode ?? ownDefault) }),
      }
    }),
  }
}

function eachTool(
  config: ServerConfig,
  tools: Readonly<Record<string, ToolSettings>>,
  merge: (own: ToolSettings, over: ToolSettings) => ToolSettings,
): Readonly<Record<string, ToolSettings>> {
  const names = new Set([...Object.keys(config.tools), ...Object.keys(tools)])
  return Object.fromEntries(
    [...names].map((name) => [name, merge(settings(config.tools, name), settings(tools, name))]),
  )
}

/** A tool may be called `constructor`. */
function settings(tools: Readonly<Record<string, ToolSettings>>, name: string): ToolSettings {
  return (Object.hasOwn(tools, name) ? tools[name] : undefined) ?? {}
}

const ACTS_AS = { approve: 'auto', auto: 'auto', writes: 'prompt', prompt: 'prompt' } as const
const STRICTNESS = { approve: 0, auto: 1, writes: 2, prompt: 3 } as const

function stricter(over: ApprovalMode, own: ApprovalMode = 'auto'): ApprovalMode {
  const wanted = ACTS_AS[over]
  return STRICTNESS[own] > STRICTNESS[wanted] ? own : wanted
}
