import type { ConfigProblem, LoadedConfig } from '../../config/index.js'
import { serverKey } from '../../identity/index.js'
import type { Finding } from './finding.js'

/** What is wrong with the files: every problem that loading found, and entries that another file hides. */
export function configurationFindings(config: LoadedConfig): Finding[] {
  return [...config.problems.map(fromProblem), ...config.shadowed.map(fromShadowed)]
}

function fromProblem({ severity, code, message, place, server }: ConfigProblem): Finding {
  return { severity, code, message, place, ...(server !== undefined && { key: serverKey(server) }) }
}

function fromShadowed({ name, origin, by }: LoadedConfig['shadowed'][number]): Finding {
  const why = by.broken ? `${by.file} has a broken entry of this name` : `${by.file} has an entry of this name`
  return {
    severity: 'warning',
    code: 'server_shadowed',
    message: `is not used: ${why}, and it comes later`,
    place: `${origin.file}${origin.line === undefined ? '' : `:${origin.line}`} mcp_servers.${name}`,
    mend: by.broken ? `mend the entry in ${by.file}` : 'rename one of them, or remove this one',
    key: serverKey(name),
  }
}
