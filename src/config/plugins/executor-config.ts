import { ConfigError } from '../../errors.js'
import { readSettings } from '../read-settings.js'
import type { ConfigProblem, ConfiguredServer } from '../server.js'
import { parseToml } from '../source/toml.js'

/** What an executor's own `config.toml` contributes. */
export interface ExecutorConfig {
  /** HTTP servers alone; they have no plugin. */
  readonly servers: readonly ConfiguredServer[]
  /** stdio servers, which are left out (reference: known-quirks, 47). */
  readonly skipped: readonly string[]
  readonly problems: readonly ConfigProblem[]
}

/**
 * Reads the configuration that an executor keeps for itself (reference: catalog, 9.1). It can only add HTTP servers:
 * nothing in it switches off, filters or approves what plugins bring. A file that cannot be parsed is one problem.
 */
export function readExecutorConfig(file: string, text: string): ExecutorConfig {
  try {
    const settings = readSettings(parseToml(file, text), { layer: 'file', strict: false, sharedFile: true })
    const stdio = settings.servers.filter(({ config }) => config.transport.type === 'stdio')
    return {
      servers: settings.servers.filter((server) => !stdio.includes(server)),
      skipped: stdio.map(({ name }) => name),
      problems: settings.problems,
    }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const { code, message, place = file } = error
    return { servers: [], skipped: [], problems: [{ severity: 'error', code, message, place }] }
  }
}
