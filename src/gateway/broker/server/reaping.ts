import { reapOrphans } from '../../../environments/index.js'
import type { BrokerLog } from './broker-log.js'

/** Ends what processes of a home left behind that were killed, and writes down what became of it. Never rejects. */
export async function reapAndTell(home: string, log: BrokerLog): Promise<void> {
  const { reaped, left, problems } = await reapOrphans(home)
  for (const { label, pids } of reaped) log.info({ label, pids }, 'ended what a killed process had left')
  for (const { label, pids, reason } of left)
    log.warn({ label, pids, reason }, 'processes of a killed process are left')
  for (const problem of problems) log.warn({}, problem.message)
}
