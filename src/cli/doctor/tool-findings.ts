import { displayKey, readableName, type ServerKey } from '../../identity/index.js'
import type { JsonObject } from '../../protocol/index.js'
import { isObject } from '../calling/schema-type.js'
import type { Finding } from './finding.js'
import { type SchemaFault, schemaFaults } from './schema-faults.js'

/** What the protocol allows in a tool's name, and what most model APIs allow in a function's. */
const SPEC_LENGTH = 128
const MODEL_LENGTH = 64
const SPEC_CHARACTERS = /^[A-Za-z0-9_.-]*$/

/** What is wrong with the tools of one server, as it listed them (unfiltered). */
export function toolFindings(key: ServerKey, tools: readonly JsonObject[]): Finding[] {
  const seen = new Set<string>()
  return tools.flatMap((tool, index) => {
    const { name } = tool
    if (typeof name !== 'string' || name === '') return [nameless(key, index)]
    const repeated = seen.has(name)
    seen.add(name)
    return [
      ...(repeated ? [duplicate(key, name)] : []),
      ...nameFindings(key, name),
      ...schemaFindings(key, name, 'inputSchema', schemaFaults(tool.inputSchema)),
      ...(tool.outputSchema === undefined
        ? []
        : schemaFindings(key, name, 'outputSchema', schemaFaults(tool.outputSchema))),
      ...(tool.annotations === undefined || isObject(tool.annotations) ? [] : [oddAnnotations(key, name)]),
    ]
  })
}

const place = (key: ServerKey, tool: string, field = ''): string =>
  `${displayKey(key)}/${tool}${field === '' ? '' : ` ${field}`}`

const nameless = (key: ServerKey, index: number): Finding => ({
  severity: 'error',
  code: 'tool_nameless',
  key,
  place: `${displayKey(key)} tools[${index}]`,
  message: 'a tool has no name',
  mend: 'report it to the author of the server',
})

const duplicate = (key: ServerKey, name: string): Finding => ({
  severity: 'error',
  code: 'tool_duplicate',
  key,
  place: place(key, name),
  message: 'two tools have this name; only the first can be called',
  mend: 'report it to the author of the server',
})

const oddAnnotations = (key: ServerKey, name: string): Finding => ({
  severity: 'warning',
  code: 'tool_annotations',
  key,
  place: place(key, name, 'annotations'),
  message: 'is no object, so its hints are lost',
  mend: 'report it to the author of the server',
})

function nameFindings(key: ServerKey, name: string): Finding[] {
  const finding = (code: string, message: string): Finding => ({
    severity: 'warning',
    code,
    key,
    place: place(key, name.length > 80 ? `${name.slice(0, 79)}…` : name),
    message: `${message}; clients of the gateway see '${readableName(key, name)}'`,
  })
  if (name.length > SPEC_LENGTH)
    return [finding('tool_name_long', `the name has ${name.length} characters, and the protocol allows ${SPEC_LENGTH}`)]
  if (name.length > MODEL_LENGTH)
    return [finding('tool_name_long', `the name has ${name.length} characters, and most models take ${MODEL_LENGTH}`)]
  if (!SPEC_CHARACTERS.test(name))
    return [finding('tool_name_characters', 'the name has characters other than letters, digits, _, - and .')]
  return []
}

function schemaFindings(key: ServerKey, tool: string, member: string, faults: readonly SchemaFault[]): Finding[] {
  return faults.map(({ code, field, message }) => ({
    severity: BROKEN.has(code) && member === 'inputSchema' ? 'error' : 'warning',
    code,
    key,
    place: place(key, tool, field === '' ? member : `${member}.${field}`),
    message,
    mend: MEND[code],
  }))
}

const BROKEN: ReadonlySet<SchemaFault['code']> = new Set(['schema_missing', 'schema_not_object'])

const MEND: Readonly<Record<SchemaFault['code'], string>> = {
  schema_missing: 'report it to the author of the server: the protocol requires it',
  schema_not_object: 'report it to the author of the server: the protocol requires {"type":"object"}',
  schema_large: 'leave the tool out with disabled_tools if nobody needs it: every model request carries it',
  schema_recursive: 'some clients refuse such tools: leave it out with disabled_tools where one does',
  schema_ref_unresolved: 'report it to the author of the server',
}
