import { isTable, type Path, type Raw, type RawTable } from '../source/raw.js'

/** `command = "node"`, without a line end. */
export function writeEntry(path: Path, value: Raw): string {
  return `${writeKey(path)} = ${writeValue(value)}`
}

/** `[mcp_servers.x]` with its members; tables of texts become sub-tables, as the reference writes them. */
export function writeTable(path: Path, table: RawTable): string {
  const own = Object.entries(table).filter(([, value]) => !isTable(value))
  const below = Object.entries(table).flatMap(([name, value]) => (isTable(value) ? [[name, value] as const] : []))
  const lines = own.map(([name, value]) => `${writeEntry([name], value)}\n`).join('')
  const head = own.length > 0 || below.length === 0 ? [`[${writeKey(path)}]\n${lines}`] : []
  return [...head, ...below.map(([name, value]) => writeTable([...path, name], value))].join('\n')
}

export function writeKey(path: Path): string {
  return path.map((part) => (/^[A-Za-z0-9_-]+$/.test(part) ? part : writeText(part))).join('.')
}

export function writeValue(value: Raw): string {
  if (typeof value === 'string') return writeText(value)
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value)) return `[${value.map((item: Raw) => writeValue(item)).join(', ')}]`
  if (!isTable(value)) return writeNumber(value)
  const members = Object.entries(value).map(([name, item]) => writeEntry([name], item))
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}

function writeNumber(value: Raw): string {
  // A float keeps its point, or it would come back as an integer.
  if (typeof value === 'number' && Number.isInteger(value) && Math.abs(value) < 1e21) return value.toFixed(1)
  return String(value).replace('Infinity', 'inf').replace('NaN', 'nan')
}

/** A basic string. JSON's escapes are TOML's, except that JSON leaves DEL alone. */
function writeText(text: string): string {
  return JSON.stringify(text).replaceAll('\u007f', '\\u007f')
}
