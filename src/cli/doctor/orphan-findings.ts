import { reapOrphans } from '../../environments/index.js'
import type { Finding } from './finding.js'

/** Ends what a killed reeve left behind, as every start does, and tells what there was. */
export async function orphanFindings(home: string): Promise<Finding[]> {
  const { reaped, left, problems } = await reapOrphans(home)
  return [
    ...reaped.map(
      ({ label, pids }): Finding => ({
        severity: 'warning',
        code: 'orphan_ended',
        place: label,
        message: `was left running by a reeve that was killed; it is ended now (${processes(pids)})`,
      }),
    ),
    ...left.map(
      ({ label, pids, reason }): Finding => ({
        severity: 'error',
        code: 'orphan_left',
        place: label,
        message: `was left running by a reeve that was killed (${processes(pids)}), and ${WHY[reason]}`,
        mend: `look at it with 'ps -fp ${pids.join(',')}' and end it yourself`,
      }),
    ),
    ...problems.map(
      (problem): Finding => ({ severity: 'error', code: 'journal', place: home, message: problem.message }),
    ),
  ]
}

const WHY = {
  unproven: 'it cannot be proven that its number was not given to another program since',
  unkillable: 'it does not end',
} as const

const processes = (pids: readonly number[]): string =>
  `${pids.length === 1 ? 'process' : 'processes'} ${pids.join(', ')}`
