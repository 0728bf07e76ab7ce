// What a run means: which scenarios passed, which failed, and which of the failures were expected.

/**
 * @typedef {object} Scenario
 * @property {string} name
 * @property {boolean} scored whether the revision requires it
 * @property {number} passed checks
 * @property {number} failed checks
 * @property {number} warnings
 * @property {'passed' | 'failed' | 'skipped'} outcome `skipped`: nothing of it applied
 * @property {{ check: string, message: string }[]} problems that nobody expected
 * @property {string[]} expected entries of the expected failures that came true
 */

/**
 * Judges a run. A warning counts as a problem, and so does a scenario without results, or a scored one in which nothing
 * was checked: what fails must be listed. An entry is `SCENARIO` or `SCENARIO:CHECK`; one that did not come true is stale.
 *
 * @param {{ scored: string[], unscored: string[] }} required
 * @param {ReadonlyMap<string, object[]>} checks by scenario
 * @param {readonly string[]} expectedFailures
 * @returns {{ scenarios: Scenario[], stale: string[] }}
 */
export function judge({ scored, unscored }, checks, expectedFailures) {
  const expected = new Set(expectedFailures)
  const scenarios = [...scored, ...unscored].map((name) =>
    judgeScenario(name, { scored: scored.includes(name), checks: checks.get(name), expected }),
  )
  const cameTrue = new Set(scenarios.flatMap((scenario) => scenario.expected))
  return { scenarios, stale: [...expected].filter((entry) => !cameTrue.has(entry)) }
}

function judgeScenario(name, { scored, checks: written, expected }) {
  const checks = written ?? []
  const count = (status) => checks.filter((check) => check.status === status).length
  const passed = count('SUCCESS')
  const failed = count('FAILURE')
  const nothing = passed === 0 && failed === 0 && (scored || written === undefined)
  const found = nothing ? [...problemsOf(checks), NOTHING_CHECKED] : problemsOf(checks)
  const entryOf = ({ check }) => [name, `${name}:${check}`].find((entry) => expected.has(entry))
  return {
    name,
    scored,
    passed,
    failed,
    warnings: count('WARNING'),
    outcome: failed > 0 || nothing ? 'failed' : passed > 0 ? 'passed' : 'skipped',
    problems: found.filter((problem) => entryOf(problem) === undefined),
    expected: [...new Set(found.map(entryOf).filter((entry) => entry !== undefined))],
  }
}

const NOTHING_CHECKED = { check: 'nothing-checked', message: 'nothing was checked' }

function problemsOf(checks) {
  return checks
    .filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
    .map(({ id, name, status, errorMessage, description, details }) => ({
      check: id,
      message: `${status === 'WARNING' ? 'warning: ' : ''}${errorMessage ?? details?.message ?? description ?? name}`,
    }))
}

/** Checks and scenarios, added up. */
export function totals(scenarios) {
  const add = (member) => scenarios.reduce((sum, scenario) => sum + scenario[member], 0)
  const ratio = (some) => ({ passed: some.filter(({ outcome }) => outcome === 'passed').length, of: some.length })
  return {
    scored: ratio(scenarios.filter(({ scored }) => scored)),
    unscored: ratio(scenarios.filter(({ scored, outcome }) => !scored && outcome !== 'skipped')),
    passed: add('passed'),
    failed: add('failed'),
    warnings: add('warnings'),
  }
}
