import type { ServerKey } from '../../identity/index.js'
import type { JsonObject } from '../../protocol/index.js'
import type { StepTool } from '../../threads/index.js'
import { qualifyToolApp, qualifyToolResult } from './content.js'

/** How a client sees tools and what they give. */
export interface ToolPresentation {
  /** Unique among the tools of one step. */
  name(tool: StepTool): string
  definition(key: ServerKey, definition: JsonObject): JsonObject
  result(key: ServerKey, result: JsonObject): JsonObject
}

/** Several servers behind one: names and URIs tell whose they are. */
export const QUALIFIED: ToolPresentation = Object.freeze({
  name: ({ flat }: StepTool) => flat,
  definition: qualifyToolApp,
  result: qualifyToolResult,
})

/** One server, whose names are the client's. */
export const UNCHANGED: ToolPresentation = Object.freeze({
  name: ({ tool }: StepTool) => tool,
  definition: (_key: ServerKey, definition: JsonObject) => definition,
  result: (_key: ServerKey, result: JsonObject) => result,
})
