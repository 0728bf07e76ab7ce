import { CONNECTING_VARIABLES } from '../../config/index.js'
import { inheritedVariables } from '../inherited-variables.js'

/**
 * The whole environment of a command that leads to an executor: the usual variables of the host, those by which
 * connecting programs find their agent or daemon, and over them the entry's own. Windows names are compared without case.
 */
export function connectingEnvironment(
  platform: NodeJS.Platform,
  host: Readonly<Record<string, string | undefined>>,
  own: Readonly<Record<string, string>>,
): Record<string, string> {
  const fold = (name: string): string => (platform === 'win32' ? name.toUpperCase() : name)
  const passed = new Set([...inheritedVariables(platform), ...CONNECTING_VARIABLES])
  const chosen = new Map<string, readonly [string, string]>()
  for (const [name, value] of Object.entries(host))
    if (value !== undefined && passed.has(fold(name))) chosen.set(fold(name), [name, value])
  for (const [name, value] of Object.entries(own)) chosen.set(fold(name), [name, value])
  const record: Record<string, string> = Object.create(null)
  for (const [name, value] of chosen.values()) record[name] = value
  return record
}
