import type { CapabilityRoot } from '../environments/index.js'
import { deepFreeze } from './freeze.js'
import type { CatalogProblem } from './types.js'

/**
 * The roots that contribute, in the order of the request: those of selected environments, each id once. Of one id with two
 * locations the first is kept and the other reported (reference: catalog, 3.2 and 9.2).
 */
export function usableRoots<Root extends CapabilityRoot>(
  roots: readonly Root[],
  selectedEnvironments: readonly string[],
): { readonly roots: readonly Root[]; readonly problems: readonly CatalogProblem[] } {
  const kept = new Map<string, Root>()
  const problems: CatalogProblem[] = []
  for (const root of roots) {
    const first = kept.get(root.id)
    if (first === undefined) kept.set(root.id, root)
    else if (first.environment !== root.environment || first.path !== root.path)
      problems.push(rootConflict(first, root))
  }
  const selected = new Set(selectedEnvironments)
  return deepFreeze({ roots: [...kept.values()].filter(({ environment }) => selected.has(environment)), problems })
}

function rootConflict(first: CapabilityRoot, other: CapabilityRoot): CatalogProblem {
  return {
    code: 'root_conflict',
    message: `ignoring selected capability root '${other.id}' at ${place(other)}: that id already stands for ${place(first)}`,
  }
}

function place({ environment, path }: CapabilityRoot): string {
  return `${path} (environment ${environment})`
}
