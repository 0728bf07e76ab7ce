import { isTable, type Path, type Raw, type RawTable } from './source/raw.js'

/** Variables by name; `process.env` fits. */
export type Environment = Readonly<Record<string, string | undefined>>

/** A `${…}` that could not be replaced. */
export interface ExpansionFault {
  readonly code: 'undefined_variable' | 'invalid_variable' | 'needs_input'
  readonly message: string
  /** The member that holds it. */
  readonly path: Path
  readonly variable: string
}

export interface ExpandedEntry {
  readonly entry: RawTable
  /** False when nothing was there to replace: `entry` is the same object. */
  readonly changed: boolean
  readonly faults: readonly ExpansionFault[]
}

/** The only members of a server in which variables are replaced. */
export const EXPANDED_MEMBERS: readonly string[] = ['command', 'args', 'env', 'url', 'http_headers', 'cwd']

/**
 * Replaces variables in the entry of a server, or of an environment (whose `members` are others); the only place that does. `${VAR}` is the variable's value (it must be set),
 * `${VAR:-default}` the default when it isn't set, `$${` a literal `${`. Values are not looked at again.
 */
export function expandEntry(
  entry: RawTable,
  path: Path,
  environment: Environment,
  members: readonly string[] = EXPANDED_MEMBERS,
): ExpandedEntry {
  const faults: ExpansionFault[] = []
  const expanded: Record<string, Raw> = Object.assign(Object.create(null), entry)
  let changed = false
  for (const member of members) {
    const value = entry[member]
    if (value === undefined) continue
    const replaced = expandValue(value, [...path, member], environment, faults)
    if (replaced === value) continue
    expanded[member] = replaced
    changed = true
  }
  return { entry: changed ? expanded : entry, changed: changed || faults.length > 0, faults }
}

/** Keeps the identity of what holds no variable. */
function expandValue(value: Raw, path: Path, environment: Environment, faults: ExpansionFault[]): Raw {
  if (typeof value === 'string') return expandText(value, path, environment, faults)
  if (Array.isArray(value)) {
    const items = value.map((item: Raw, index) => expandValue(item, [...path, String(index)], environment, faults))
    return items.some((item, index) => item !== value[index]) ? items : value
  }
  if (!isTable(value)) return value
  const entries = Object.entries(value).map(
    ([name, item]) => [name, expandValue(item, [...path, name], environment, faults)] as const,
  )
  if (entries.every(([name, item]) => item === value[name])) return value
  return Object.assign(Object.create(null), Object.fromEntries(entries))
}

function expandText(text: string, path: Path, environment: Environment, faults: ExpansionFault[]): string {
  if (!text.includes('${')) return text
  return text.replace(/\$\$\{|\$\{([^}]*)\}?/g, (whole, inside: string | undefined) => {
    if (inside === undefined) return '${'
    const result = replacement(inside, whole, environment)
    if (typeof result === 'string') return result
    faults.push({ ...result, path })
    return whole
  })
}

function replacement(inside: string, whole: string, environment: Environment): string | Omit<ExpansionFault, 'path'> {
  const [, name, standIn] = /^([A-Za-z_][A-Za-z0-9_()]*)(?::-([\s\S]*))?$/.exec(inside) ?? []
  if (name === undefined || !whole.endsWith('}') || standIn?.includes('${')) return oddVariable(inside, whole)
  const value = Object.hasOwn(environment, name) ? environment[name] : undefined
  if (value !== undefined) return value
  if (standIn !== undefined) return standIn
  const message = `the variable ${name} is not set; set it, or give a default: \${${name}:-default}`
  return { code: 'undefined_variable', message, variable: name }
}

function oddVariable(inside: string, whole: string): Omit<ExpansionFault, 'path'> {
  if (inside.startsWith('input:')) {
    const id = inside.slice('input:'.length)
    const message = `asks for the input '${id}', which nobody can type here: use a variable, e.g. \${${inputVariable(id)}}`
    return { code: 'needs_input', message, variable: inside }
  }
  const message = `'${whole.slice(0, 60)}' is no variable; write $\${ for a literal \${`
  return { code: 'invalid_variable', message, variable: inside }
}

/** The variable that stands for a VS Code input: `github-token` → `GITHUB_TOKEN`. */
export function inputVariable(id: string): string {
  return id.replace(/[^A-Za-z0-9]+/g, '_').toUpperCase()
}

/** Protects a text that must not be expanded, for files whose own format has no variables. */
export function escapeVariables(text: string): string {
  // A function, since `$$` means one `$` in a replacement text.
  return text.replaceAll('${', () => '$${')
}
