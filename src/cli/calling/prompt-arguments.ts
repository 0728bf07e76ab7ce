import type { JsonObject } from '../../protocol/index.js'
import { didYouMean } from '../closest.js'
import { textMember } from '../showing/members.js'
import { ArgumentError } from '../usage.js'
import { isObject } from './schema-type.js'

export interface PromptArgument {
  readonly name: string
  readonly required: boolean
  readonly description: string | undefined
}

/** What a prompt takes, as its server lists it. */
export function promptArguments(prompt: JsonObject): PromptArgument[] {
  const listed = Array.isArray(prompt.arguments) ? prompt.arguments.filter(isObject) : []
  return listed.flatMap((argument) => {
    const name = textMember(argument, 'name')
    return name === undefined
      ? []
      : [{ name, required: argument.required === true, description: textMember(argument, 'description') }]
  })
}

/**
 * The arguments of `prompts/get` from `key=value…`: always text.
 * @throws ArgumentError for a pair without `=`, a name given twice or unknown, a required one that is missing
 */
export function promptValues(pairs: readonly string[], prompt: JsonObject): JsonObject {
  const known = promptArguments(prompt)
  const values = new Map<string, string>()
  for (const pair of pairs) {
    const at = pair.indexOf('=')
    if (at <= 0) throw new ArgumentError(`expected key=value, got '${pair}'`)
    const name = pair.slice(0, at)
    if (values.has(name)) throw new ArgumentError(`argument '${name}' is given twice`, { place: name })
    if (!known.some((argument) => argument.name === name)) throw unknownArgument(name, known)
    values.set(name, pair.slice(at + 1))
  }
  const missing = known.filter(({ name, required }) => required && !values.has(name))
  if (missing.length > 0) throw missingArguments(missing)
  return Object.fromEntries(values)
}

function unknownArgument(name: string, known: readonly PromptArgument[]): ArgumentError {
  const names = known.map((argument) => argument.name)
  const list = names.length === 0 ? ': it takes none' : `: it takes ${names.join(', ')}`
  return new ArgumentError(`the prompt has no argument '${name}'${didYouMean(name, names) || list}`, { place: name })
}

function missingArguments(missing: readonly PromptArgument[]): ArgumentError {
  const list = missing.map(
    ({ name, description }) => `'${name}'${description === undefined ? '' : ` (${description})`}`,
  )
  return new ArgumentError(`missing required ${missing.length === 1 ? 'argument' : 'arguments'} ${list.join(', ')}`, {
    data: { missing: missing.map(({ name }) => name) },
  })
}
