import type { ServerKey } from '../../identity/index.js'
import type { JsonObject } from '../../protocol/index.js'
import type { StepTool, Thread } from '../../threads/index.js'
import { qualifiedTasks, type TaskNames, unchangedTasks } from '../tasks/index.js'
import { qualifyToolApp, qualifyToolResult } from './content.js'
import { markItem } from './environment-marks.js'

/** How a client sees tools and what they give. */
export interface ToolPresentation {
  /** Unique among the tools of one step. */
  name(tool: StepTool): string
  definition(key: ServerKey, definition: JsonObject): JsonObject
  result(key: ServerKey, result: JsonObject): JsonObject
  taskNames(thread: Thread): TaskNames
}

/** Several servers behind one: names and URIs tell whose they are. */
export const QUALIFIED: ToolPresentation = Object.freeze({
  name: ({ flat }: StepTool) => flat,
  definition: (key: ServerKey, definition: JsonObject) => markItem(key, qualifyToolApp(key, definition)),
  result: qualifyToolResult,
  taskNames: qualifiedTasks,
})

/** One server, whose names are the client's. */
export function unchanged(key: ServerKey): ToolPresentation {
  return Object.freeze({
    name: ({ tool }: StepTool) => tool,
    definition: (_key: ServerKey, definition: JsonObject) => definition,
    result: (_key: ServerKey, result: JsonObject) => result,
    taskNames: () => unchangedTasks(key),
  })
}
