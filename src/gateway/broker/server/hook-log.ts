import type { HookReport } from '../../../authority/index.js'
import type { BrokerLog } from './broker-log.js'

/**
 * Writes down which hooks of a thread fail: calls go on without one, so nobody would miss it. Once until it is well again,
 * since it is run with every call, and without what hooks tell models. `number` is that of `reeve hooks`.
 */
export function hookLog(log: BrokerLog): (report: HookReport) => void {
  const failing = new Set<string>()
  return ({ type, run }) => {
    if (type === 'hook/started') return
    const { eventName: event, sourcePath, source, displayOrder, status, entries } = run
    const hook = JSON.stringify([sourcePath, source, displayOrder])
    if (status !== 'failed') {
      failing.delete(hook)
      return
    }
    const reasons = entries.filter(({ kind }) => kind === 'error').map(({ text }) => text)
    const facts = { event, source: sourcePath ?? source, number: displayOrder + 1 }
    log[failing.has(hook) ? 'debug' : 'warn'](facts, `a hook failed: ${reasons.join('; ')}`)
    failing.add(hook)
  }
}
