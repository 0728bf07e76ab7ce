import { ConfigError } from '../../errors.js'
import { parseJson } from '../source/json.js'
import { isTable, type Raw, type RawTable, shortened } from '../source/raw.js'

/** Of Agent Plugins 1.0 (https://agent-plugins.org): both files stand at the plugin's root and nowhere else. */
export const AGENT_PLUGIN_MANIFEST = 'plugin.json'
export const AGENT_PLUGIN_SERVERS = 'mcp.json'

const SCHEMAS = 'https://agent-plugins.org/schemas/'
const MANIFEST_SCHEMA = `${SCHEMAS}1.0.0/plugin.schema.json`

export interface AgentPluginManifest {
  readonly name: string
  readonly warnings: readonly string[]
}

/** Whether a document says that it is one of Agent Plugins, of whatever version. */
export function isAgentPluginDocument(document: RawTable): boolean {
  return typeof document.$schema === 'string' && document.$schema.startsWith(SCHEMAS)
}

/**
 * Reads the manifest of an Agent Plugin. Unknown members are told and ignored, as the specification demands (5.2); every
 * other fault is one of the whole plugin.
 *
 * @returns undefined for another kind of `plugin.json`: many tools have one.
 * @throws ConfigError `syntax`, `unsupported_schema`, `invalid_value`, `wrong_type`
 */
export function readAgentManifest(file: string, text: string): AgentPluginManifest | undefined {
  const { root } = parseJson(file, text)
  if (!isAgentPluginDocument(root)) return undefined
  if (root.$schema !== MANIFEST_SCHEMA) {
    const message = `only ${MANIFEST_SCHEMA} is supported, not ${shortened(String(root.$schema), 120)}`
    throw new ConfigError('unsupported_schema', message, { place: file })
  }
  const { name } = root
  if (typeof name !== 'string' || name.length > 64 || !NAME.test(name) || /--|\.\./.test(name))
    throw new ConfigError(
      'invalid_value',
      'name has 1 to 64 of a-z, 0-9, `.` and `-`, begins and ends with a letter or digit, and has no `--` or `..`',
      { place: file },
    )
  for (const [member, is] of Object.entries(OPTIONAL)) {
    const value = root[member]
    if (value !== undefined && !is(value))
      throw new ConfigError('wrong_type', `${member} has the wrong type`, { place: file })
  }
  return { name, warnings: warningsOf(root) }
}

const NAME = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/

const isText = (value: Raw) => typeof value === 'string'
const OPTIONAL: Readonly<Record<string, (value: Raw) => boolean>> = {
  version: isText,
  description: isText,
  homepage: isText,
  repository: isText,
  license: isText,
  keywords: (value) => Array.isArray(value) && value.every(isText),
  author: (value) =>
    isTable(value) &&
    Object.entries(value).every(([member, text]) => ['name', 'email', 'url'].includes(member) && isText(text)),
}

function warningsOf(root: RawTable): string[] {
  const known = ['$schema', 'name', 'extensions', ...Object.keys(OPTIONAL)]
  const unknown = Object.keys(root).filter((member) => !known.includes(member))
  const { extensions } = root
  return [
    ...unknown.map((member) => `unknown member \`${shortened(member)}\``),
    ...(extensions !== undefined && !isTable(extensions) ? ['extensions is no object and is ignored'] : []),
  ]
}
