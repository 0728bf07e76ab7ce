import { keyText } from './key.js'
import type { NamingInput } from './naming.js'

/**
 * Inputs that name what an earlier one already named: same server, same raw tool, same connector. A naming strategy
 * leaves them out; the caller warns about each (reference: identity-and-names, 3.1).
 */
export function repeatedTools(tools: readonly NamingInput[]): readonly NamingInput[] {
  const seen = new Set<string>()
  return tools.filter((input) => {
    const identity = toolIdentity(input)
    const repeated = seen.has(identity)
    seen.add(identity)
    return repeated
  })
}

/** An injective text of what an input names. (The reference's K is not, for names that hold NUL or look like S.) */
export function toolIdentity({ key, tool, rawNamespace, connectorId, callableName }: NamingInput): string {
  return JSON.stringify([keyText(key), tool, rawNamespace ?? key.name, connectorId ?? '', callableName ?? tool])
}
