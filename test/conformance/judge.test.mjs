import { describe, expect, it } from 'vitest'
import { judge, totals } from './judge.mjs'
import { headline, isGreen, lines } from './report.mjs'

const check = (id, status, errorMessage) => ({ id, name: id, status, description: `about ${id}`, errorMessage })
const required = { scored: ['ping', 'tools'], unscored: ['tasks'] }
const allGood = () => [
  ['ping', [check('pong', 'SUCCESS'), check('note', 'INFO')]],
  ['tools', [check('listed', 'SUCCESS'), check('called', 'SUCCESS')]],
  ['tasks', [check('created', 'SUCCESS')]],
]

function report(checks, expected = []) {
  const judged = judge(required, new Map(checks), expected)
  return { name: 'server-2025', kind: 'server', revision: '2025-11-25', ...totals(judged.scenarios), ...judged }
}

/** All good, but for one scenario. */
const but = (name, ...checks) => allGood().map((entry) => (entry[0] === name ? [name, checks] : entry))

describe('judging a run of the conformance suite', () => {
  it('counts scenarios and checks in one line', () => {
    const all = report(allGood())
    expect(headline(all)).toBe('server 2025-11-25: 2/2 scored, 4 passed, 0 failed; 1/1 unscored')
    expect(isGreen(all)).toBe(true)
  })

  it('turns red on a failure that nobody expected, and names the check', () => {
    const one = report(but('tools', check('listed', 'SUCCESS'), check('called', 'FAILURE', 'no\nanswer')))
    expect(isGreen(one)).toBe(false)
    expect(lines(one)).toEqual([
      'server 2025-11-25: 1/2 scored, 3 passed, 1 failed; 1/1 unscored',
      '  ✗ tools',
      '      called: no answer',
    ])
  })

  it('stays green on a failure that is expected, of a whole scenario or of one check', () => {
    const failing = but('tools', check('listed', 'SUCCESS'), check('called', 'FAILURE'))
    expect(isGreen(report(failing, ['tools']))).toBe(true)
    expect(isGreen(report(failing, ['tools:called']))).toBe(true)
    expect(isGreen(report(failing, ['tools:listed']))).toBe(false)
  })

  it('turns red on an entry that passes, or that no scenario has', () => {
    const stale = report(allGood(), ['tools', 'ping:pong', 'nothing'])
    expect(isGreen(stale)).toBe(false)
    expect(stale.stale).toEqual(['tools', 'ping:pong', 'nothing'])
    expect(lines(stale)).toContain('  ✗ tools passes: remove it from expected-server-2025.yml')
  })

  it('takes a warning for a problem, but not for a failed scenario', () => {
    const warned = report(but('ping', check('pong', 'SUCCESS'), check('slow', 'WARNING', 'took long')))
    expect(isGreen(warned)).toBe(false)
    expect(warned.scored).toEqual({ passed: 2, of: 2 })
    expect(lines(warned)).toContain('      slow: warning: took long')
  })

  it('takes a required scenario without any check, or without results, for failed', () => {
    for (const checks of [but('ping', check('pong', 'SKIPPED')), allGood().slice(1)]) {
      const none = report(checks)
      expect(isGreen(none)).toBe(false)
      expect(none.scored).toEqual({ passed: 1, of: 2 })
      expect(lines(none)).toContain('      nothing-checked: nothing was checked')
    }
  })

  it('takes a scenario that broke off without results for failed, required or not', () => {
    const broken = report(allGood().slice(0, 2))
    expect(isGreen(broken)).toBe(false)
    expect(broken.unscored).toEqual({ passed: 0, of: 1 })
    expect(isGreen(report(allGood().slice(0, 2), ['tasks']))).toBe(true)
  })

  it('leaves out of the count what is not required and did not apply', () => {
    const skipped = report(but('tasks', check('created', 'SKIPPED')))
    expect(isGreen(skipped)).toBe(true)
    expect(headline(skipped)).toBe('server 2025-11-25: 2/2 scored, 3 passed, 0 failed')
  })
})
