import type { Environment } from '../expand.js'
import type { ConfigProblem } from '../server.js'
import type { EnvironmentsFile } from './read-file.js'
import { environmentUrlFault } from './rules.js'

const URL_VARIABLE = 'CODEX_EXEC_SERVER_URL'
const NOISE_VARIABLES = ['REGISTRY_URL', 'ENVIRONMENT_ID', 'AUTH_TOKEN'].map(
  (part) => `CODEX_EXEC_SERVER_NOISE_${part}`,
)

/**
 * What stands for a missing `environments.toml`: `CODEX_EXEC_SERVER_URL` makes one environment `remote` in the place of
 * the host, or, as `none`, no environment at all (reference: executor-protocol, 11).
 */
export function legacyEnvironments(
  environment: Environment,
  tell: (problem: ConfigProblem) => void,
): EnvironmentsFile | undefined {
  const url = environment[URL_VARIABLE]?.trim() ?? ''
  if (url === '') return undefined
  if (url === 'none') return { entries: [], includeLocal: false }
  const fault = environmentUrlFault(url)
  if (fault !== undefined) {
    tell({ severity: 'error', ...fault, place: URL_VARIABLE })
    return undefined
  }
  const origin = Object.freeze({ file: URL_VARIABLE, layer: 'user' as const })
  const connection = Object.freeze({ kind: 'url' as const, url })
  return { entries: [Object.freeze({ id: 'remote', connection, origin })], includeLocal: false, default: 'remote' }
}

/** The relay of Codex is not spoken here: said once, so that nobody waits for its environment. */
export function noiseProblem(environment: Environment): ConfigProblem | undefined {
  const set = NOISE_VARIABLES.filter((name) => (environment[name] ?? '') !== '')
  const [first] = set
  if (first === undefined) return undefined
  const message = 'environments behind the Noise relay of Codex are not supported: the variable is ignored'
  return Object.freeze({ severity: 'warning', code: 'unsupported', message, place: first, data: { variables: set } })
}
