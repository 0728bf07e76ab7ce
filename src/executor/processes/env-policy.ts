import { EXEC_CORE_VARIABLES } from '../../protocol/index.js'
import { invalidParams } from '../wire/fault.js'
import type { Params } from '../wire/params.js'

/** Variables by name. */
export type Variables = Readonly<Record<string, string | undefined>>

const CORE: ReadonlySet<string> = new Set(EXEC_CORE_VARIABLES)
const DEFAULT_EXCLUDES = ['*KEY*', '*SECRET*', '*TOKEN*']

/**
 * The environment of a process: by the policy of `params.envPolicy` from the executor's own variables, with `params.env`
 * laid over it; without a policy `params.env` alone (reference: executor-protocol, 6.5).
 *
 * @throws RpcError -32602
 */
export function childEnvironment(params: Params, own: Variables): Record<string, string> {
  const overlay = params.textMap('env')
  const policy = params.optionalGroup('envPolicy')
  const variables = policy === undefined ? new Map<string, string>() : byPolicy(policy, own)
  for (const [name, value] of overlay) variables.set(name, value)
  const environment: Record<string, string> = Object.create(null)
  for (const [name, value] of variables) {
    if (name === '' || /[=\0]/.test(name) || value.includes('\0'))
      throw invalidParams('env has a variable that no process can be given')
    environment[name] = value
  }
  return environment
}

function byPolicy(policy: Params, own: Variables): Map<string, string> {
  const inherit = policy.oneOf('inherit', ['core', 'all', 'none'])
  const excluded = [...(policy.flag('ignoreDefaultExcludes') ? [] : DEFAULT_EXCLUDES), ...policy.texts('exclude')].map(
    matcher,
  )
  const set = policy.textMap('set')
  const included = policy.texts('includeOnly').map(matcher)

  const variables = new Map<string, string>()
  for (const [name, value] of Object.entries(own)) {
    if (value === undefined || inherit === 'none') continue
    if (inherit === 'core' && !CORE.has(name)) continue
    if (!excluded.some((matches) => matches(name))) variables.set(name, value)
  }
  for (const [name, value] of set) variables.set(name, value)
  if (included.length === 0) return variables
  return new Map([...variables].filter(([name]) => included.some((matches) => matches(name))))
}

/** A pattern with `*` and `?`, whatever the case. Matched without a regular expression: patterns come from the client. */
function matcher(pattern: string): (name: string) => boolean {
  const glob = pattern.toLowerCase()
  return (name) => matchesGlob(glob, name.toLowerCase())
}

/** Greedy with one place to go back to, so at worst quadratic. */
function matchesGlob(glob: string, text: string): boolean {
  let [at, place, star, tried] = [0, 0, -1, 0]
  while (place < text.length) {
    if (glob[at] === '*') {
      star = at
      tried = place
      at += 1
    } else if (glob[at] === '?' || glob[at] === text[place]) {
      at += 1
      place += 1
    } else if (star >= 0) {
      tried += 1
      at = star + 1
      place = tried
    } else return false
  }
  while (glob[at] === '*') at += 1
  return at === glob.length
}
