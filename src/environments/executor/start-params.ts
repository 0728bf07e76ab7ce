import { InvalidArgumentsError } from '../../errors.js'
import { type ExecEnvPolicy, type ExecPathStyle, type ExecStartParams, fileUriOf } from '../../protocol/index.js'
import type { SpawnRequest } from '../environment.js'
import { UNIX_ALLOWLIST } from '../inherited-variables.js'

/**
 * How a program is started on an executor (reference: connections, 11.1). Raises `InvalidArgumentsError` for a working
 * directory that is missing or not absolute there, and for text that is not Unicode; it names the part, not the value.
 */
export function startParamsOf(request: SpawnRequest, processId: string, style: ExecPathStyle): ExecStartParams {
  const { program, args, env, cwd, label, executorVariables = [] } = request
  const refuse = (what: string): never => {
    throw new InvalidArgumentsError(`${label}: ${what}`, { place: label })
  }
  if (cwd === undefined) return refuse('on an executor a working directory is needed')
  const uri = fileUriOf(cwd, style)
  if (uri === undefined) return refuse(`the working directory '${cwd}' is no absolute path on the executor`)
  const argv = [program, ...args]
  argv.forEach((arg, index) => {
    if (!isPlain(arg)) refuse(index === 0 ? 'the command is not Unicode' : `argument ${index} is not Unicode`)
  })
  for (const [name, value] of Object.entries(env))
    if (!isPlain(name) || !isPlain(value)) refuse(`the variable ${JSON.stringify(name)} is not Unicode`)
  return {
    processId,
    argv,
    cwd: uri,
    env: { ...env },
    envPolicy: policyOf(executorVariables),
    tty: false,
    pipeStdin: true,
    arg0: null,
    sandbox: null,
    enforceManagedNetwork: false,
  }
}

function policyOf(names: readonly string[]): ExecEnvPolicy {
  const common = { ignoreDefaultExcludes: true, exclude: [], set: {} }
  if (names.length === 0) return { inherit: 'core', ...common, includeOnly: [] }
  return { inherit: 'all', ...common, includeOnly: [...USUAL_VARIABLES, ...names] }
}

/** What the real client keeps beside the names asked for, whatever the system there. */
const USUAL_VARIABLES = [...UNIX_ALLOWLIST, 'SYSTEMROOT', 'TEMP', 'TMP', 'SYSTEMDRIVE', 'LOCALAPPDATA'] as const

/** Unicode, and without the byte that no argument can hold. */
function isPlain(text: string): boolean {
  return !text.includes('\0') && Buffer.from(text, 'utf8').toString('utf8') === text
}
