import { ConfigError } from '../errors.js'
import { readSettings } from './read-settings.js'
import type { FileSettings } from './settings.js'
import { parseToml } from './source/toml.js'

/**
 * Reads a Codex `config.toml` the way Codex does: one fault rejects the whole file. No `${VAR}` is replaced.
 *
 * @param options.strict unknown members are faults too.
 * @throws ConfigError the first fault, with the reference's text; `data.path` names the member.
 */
export function parseCodexConfig(
  text: string,
  options: { readonly file?: string; readonly strict?: boolean } = {},
): FileSettings {
  const document = parseToml(options.file ?? 'config.toml', text)
  const strict = options.strict ?? false
  const settings = readSettings(document, { layer: 'file', strict, sharedFile: true })
  const first = settings.problems.find((problem) => problem.severity === 'error')
  if (first === undefined) return settings
  const { code, message, place, path, data } = first
  throw new ConfigError(code, message, { place, data: { ...data, ...(path && { path }) } })
}
