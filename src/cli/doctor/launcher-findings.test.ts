import { expect, it } from 'vitest'
import type { LauncherFinding } from '../../reeve.js'
import { launcherFindings, launcherLine } from './launcher-findings.js'

const READY: LauncherFinding = { is: 'ready', named: '/usr/bin/codex', path: '/opt/codex', source: 'auto' }
const refused = (source: 'auto' | 'configuration') =>
  ({ is: 'refused', named: '/usr/bin/codex', source, fault: 'missing', reason: 'it is gone' }) as const

it.each<[string, Parameters<typeof launcherLine>[0], string]>([
  ['where it is', { codex: READY }, '/opt/codex'],
  ['both', { codex: READY, reeve: { ...READY, path: '/opt/reeve' } }, '/opt/codex, /opt/reeve'],
  [
    'ours alone, and that there is no Codex',
    { codex: { is: 'absent', looked: ['/a'] }, reeve: { ...READY, path: '/opt/reeve', source: 'own' } },
    '/opt/reeve (no Codex CLI in /a)',
  ],
  [
    'what keeps ours from being one',
    { codex: READY, reeve: { ...refused('auto'), named: '/opt/reeve', source: 'own' } },
    "/opt/codex (Reeve's own, /opt/reeve: it is gone)",
  ],
  ['that it is off', { codex: { is: 'off' } }, 'none (switched off)'],
  ['where it is not', { codex: { is: 'absent', looked: ['/a', '/b'] } }, 'none (no Codex CLI in /a, /b)'],
  ['which one is none', { codex: refused('auto') }, 'none (/usr/bin/codex: it is gone)'],
])('tells %s', (_, found, line) => {
  expect(launcherLine(found)).toBe(line)
})

it('is an error when it was asked for, and none when it just is there', () => {
  for (const codex of [READY, refused('auto'), { is: 'absent', looked: [] } as const])
    expect(launcherFindings({ codex })).toEqual([])
  expect(launcherFindings({ codex: refused('configuration') })).toMatchObject([
    { severity: 'error', code: 'launcher_refused', place: 'launcher', message: expect.stringContaining('it is gone') },
  ])
})
