import { ReeveError } from '../../errors.js'
import { displayKey, type ServerKey, sameKey } from '../../identity/index.js'
import type { StepTool, ToolStep } from '../../threads/index.js'
import { didYouMean } from '../closest.js'

/**
 * The tool of a server by its raw name.
 * @throws ReeveError `unknown_tool` with the closest name, or with the raw name when the one that clients see was given
 */
export function findTool(step: ToolStep, key: ServerKey, name: string): StepTool {
  const tools = step.tools.filter((tool) => sameKey(tool.key, key))
  const found = tools.find((tool) => tool.tool === name)
  if (found !== undefined) return found
  const byShownName = tools.find((tool) => tool.flat === name || tool.name === name)
  const hint =
    byShownName === undefined
      ? didYouMean(
          name,
          tools.map((tool) => tool.tool),
        )
      : `. The server calls it '${byShownName.tool}'`
  throw new ReeveError('unknown_tool', `MCP server '${displayKey(key)}' offers no tool '${name}'${hint}`, {
    key,
    data: { tools: tools.map((tool) => tool.tool) },
  })
}
