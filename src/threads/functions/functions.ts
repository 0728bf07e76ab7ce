import type { JsonObject } from '../../protocol/index.js'
import type { FunctionTool } from '../types.js'

/** The resource functions that a model is offered (reference: tool-calls, 9.1). */
export const RESOURCE_FUNCTIONS = ['list_mcp_resources', 'list_mcp_resource_templates', 'read_mcp_resource'] as const
export type ResourceFunctionName = (typeof RESOURCE_FUNCTIONS)[number]

export function isResourceFunction(name: string): name is ResourceFunctionName {
  return RESOURCE_FUNCTIONS.some((known) => known === name)
}

/** With the feature off there is no `environment_id` to name. Members in alphabetical order, as the reference sends them. */
export function functionTools({ multiEnvironment }: { readonly multiEnvironment: boolean }): readonly FunctionTool[] {
  return multiEnvironment ? WITH_ENVIRONMENTS : WITHOUT_ENVIRONMENTS
}

const ENVIRONMENT_ID = text(
  'The environment that owns the server, as given in resource listings or in the environment context. Use it together ' +
    'with `server`. Servers that belong to an environment need it while several environments are attached; leave it out ' +
    'for shared servers.',
)
const LISTING_SERVER = text('The MCP server to ask. Leave it out to ask all of them.')
const CURSOR = text('`nextCursor` of an earlier answer of the same server, for its next page. Needs `server`.')
const READING_SERVER = text('The MCP server that has the resource, exactly as a listing names it.')
const URI = text('The URI of the resource, exactly as the listing of that server gives it.')

const WITH_ENVIRONMENTS = tools({ environment_id: ENVIRONMENT_ID })
const WITHOUT_ENVIRONMENTS = tools({})

function tools(environment: JsonObject): readonly FunctionTool[] {
  const listing = object({ cursor: CURSOR, ...environment, server: LISTING_SERVER }, [])
  return Object.freeze([
    tool(
      'list_mcp_resources',
      'Lists what MCP servers offer for reading: files, records, pages. Prefer such a resource to a web search.',
      listing,
    ),
    tool(
      'list_mcp_resource_templates',
      'Lists the URI templates of MCP servers: resources that are read once the placeholders of their URI are filled in.',
      listing,
    ),
    tool(
      'read_mcp_resource',
      'Reads one resource of an MCP server, by the server and the URI that a listing gave.',
      object({ ...environment, server: READING_SERVER, uri: URI }, ['server', 'uri']),
    ),
  ])
}

function tool(name: ResourceFunctionName, description: string, parameters: JsonObject): FunctionTool {
  return Object.freeze({ name, description, parameters, strict: false })
}

function object(properties: JsonObject, required: readonly string[]): JsonObject {
  return Object.freeze({
    type: 'object',
    properties: Object.freeze(properties),
    required: [...required],
    additionalProperties: false,
  })
}

function text(description: string): JsonObject {
  return Object.freeze({ type: 'string', description })
}
