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

/** Roots that one environment may report. */
const MOST_REPORTED = 256

/**
 * The roots of a thread, then those that its environments report by themselves, from which `usableRoots` takes its own. A
 * report that is too long, or names an id that is blank or there twice, fails as a whole and alone (reference: catalog, 9.2).
 *
 * @param reported what is configured for environments; each root belongs to the report of its environment
 */
export function effectiveRoots<Root extends CapabilityRoot>(
  ofThread: readonly Root[],
  reported: readonly Root[],
  selectedEnvironments: readonly string[],
): { readonly roots: readonly Root[]; readonly problems: readonly CatalogProblem[] } {
  const problems: CatalogProblem[] = []
  const accepted = selectedEnvironments.flatMap((environment) => {
    const report = reported.filter((root) => root.environment === environment)
    const fault = reportFault(report)
    if (fault === undefined) return report
    problems.push({
      code: 'root_report_refused',
      message: `the capability roots of environment '${environment}' are not used: ${fault}`,
    })
    return []
  })
  const usable = usableRoots([...ofThread, ...accepted], selectedEnvironments)
  return deepFreeze({ roots: usable.roots, problems: [...problems, ...usable.problems] })
}

function reportFault(report: readonly CapabilityRoot[]): string | undefined {
  if (report.length > MOST_REPORTED) return `there are ${report.length}, and at most ${MOST_REPORTED} may be`
  const ids = new Set<string>()
  for (const { id } of report) {
    if (id.trim() === '') return 'one of them has no id'
    if (ids.has(id)) return `'${id}' stands for two of them`
    ids.add(id)
  }
  return undefined
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
