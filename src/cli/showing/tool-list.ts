import { compareKeys, readableName, type ServerKey } from '../../identity/index.js'
import type { JsonObject } from '../../protocol/index.js'
import { isModelVisible } from '../../threads/index.js'
import { isObject } from '../calling/schema-type.js'
import type { Cli } from '../cli.js'
import { failuresJson, type ServerFailure } from './failures.js'
import { textMember } from './members.js'
import { keyColumns, keyMembers } from './server-names.js'

/** A tool of a listing. */
export interface ListedTool {
  readonly key: ServerKey
  /** As the server calls it. */
  readonly tool: string
  readonly definition: JsonObject
  /** False when it is known from the cache alone. */
  readonly live: boolean
}

export interface ToolList {
  /** By server, then by name. */
  readonly tools: readonly ListedTool[]
  readonly failures: readonly ServerFailure[]
}

export function showTools(cli: Cli, { tools, failures }: ToolList): void {
  if (cli.json) cli.out.json({ tools: tools.map(toolJson), failures: failuresJson(failures) })
  else if (tools.length === 0) cli.err.line('no tools')
  else
    cli.out.table(tools, [
      ...keyColumns(tools),
      { title: 'TOOL', value: ({ tool }) => tool },
      { title: 'ARGUMENTS', value: ({ definition }) => argumentNames(definition) },
      { title: 'DESCRIPTION', value: ({ definition }) => firstLine(definition) },
    ])
}

/** The order of a listing, whether it comes from servers, the cache, or both. */
export function byServerAndName(a: ListedTool, b: ListedTool): number {
  return compareKeys(a.key, b.key) || (a.tool < b.tool ? -1 : Number(a.tool > b.tool))
}

function toolJson({ key, tool, live, definition }: ListedTool): Record<string, unknown> {
  return {
    ...keyMembers(key),
    // What clients of the gateway see.
    exposed_name: readableName(key, tool),
    cached: !live,
    model_visible: isModelVisible(definition),
    tool: definition,
  }
}

/** `text [limit]`: what is required, and what may be left out. */
function argumentNames({ inputSchema }: JsonObject): string {
  if (!isObject(inputSchema) || !isObject(inputSchema.properties)) return ''
  const required = Array.isArray(inputSchema.required) ? inputSchema.required : []
  const names = Object.keys(inputSchema.properties)
  return [...names.filter((name) => required.includes(name)), ...names.filter((name) => !required.includes(name))]
    .map((name) => (required.includes(name) ? name : `[${name}]`))
    .join(' ')
}

function firstLine(definition: JsonObject): string | undefined {
  const text = textMember(definition, 'description') ?? textMember(definition, 'title')
  return text?.trim().split('\n', 1)[0]
}
