import type { JsonObject } from '../../protocol/index.js'
import type { StepTool } from '../../threads/index.js'
import { isObject } from '../calling/schema-type.js'
import type { Cli } from '../cli.js'
import { failuresJson, type ServerFailure } from './failures.js'
import { textMember } from './members.js'
import { keyColumns, keyMembers } from './server-names.js'

export interface ToolList {
  readonly tools: readonly StepTool[]
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

function toolJson({ key, flat, live, modelVisible, definition }: StepTool): Record<string, unknown> {
  return { ...keyMembers(key), exposed_name: flat, cached: !live, model_visible: modelVisible, tool: definition }
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
