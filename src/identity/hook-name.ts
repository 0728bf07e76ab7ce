import type { ToolName } from './naming.js'

/**
 * The name that hooks match: `NS__T`, underscores trimmed at the seam, `mcp__` in front if it is missing (reference:
 * identity-and-names, 6).
 */
export function hookName({ namespace, name }: Pick<ToolName, 'namespace' | 'name'>): string {
  const joined = `${trimEnd(namespace)}__${name.replace(/^_+/, '')}`
  return joined.startsWith('mcp__') ? joined : `mcp__${joined}`
}

/** A loop, because `/_+$/` takes quadratic time on a hostile name. */
function trimEnd(text: string): string {
  let end = text.length
  while (text[end - 1] === '_') end -= 1
  return text.slice(0, end)
}
