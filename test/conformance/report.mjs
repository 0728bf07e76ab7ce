const PROBLEMS_SHOWN = 5
const MESSAGE_SHOWN = 240

/** Whether nothing failed that nobody expected, and everything failed that somebody did. */
export function isGreen({ scenarios, stale }) {
  return stale.length === 0 && scenarios.every(({ problems }) => problems.length === 0)
}

/** e.g. `server 2025-11-25: 30/30 scored, 84 passed, 0 failed; 3/3 unscored`. */
export function headline({ kind, revision, scored, unscored, passed, failed, warnings, scenarios }) {
  const expected = scenarios.filter((scenario) => scenario.expected.length > 0).length
  return [
    `${kind} ${revision}: ${scored.passed}/${scored.of} scored, ${passed} passed, ${failed} failed`,
    warnings > 0 ? `, ${warnings} warnings` : '',
    unscored.of > 0 ? `; ${unscored.passed}/${unscored.of} unscored` : '',
    expected > 0 ? ` (${expected} scenarios fail as expected)` : '',
  ].join('')
}

/** The headline, and a line for whatever nobody expected. */
export function lines(report) {
  const unexpected = report.scenarios.filter(({ problems }) => problems.length > 0)
  return [
    headline(report),
    ...unexpected.flatMap(({ name, problems }) => [
      `  ✗ ${name}`,
      ...problems.slice(0, PROBLEMS_SHOWN).map(({ check, message }) => `      ${check}: ${oneLine(message)}`),
      ...(problems.length > PROBLEMS_SHOWN ? [`      … and ${problems.length - PROBLEMS_SHOWN} more`] : []),
    ]),
    ...report.stale.map((entry) => `  ✗ ${entry} passes: remove it from expected-${report.name}.yml`),
  ]
}

const oneLine = (message) => String(message).replaceAll(/\s+/g, ' ').slice(0, MESSAGE_SHOWN)
