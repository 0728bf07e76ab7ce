import { displayKey } from '../../../identity/index.js'
import type { ThreadEvent } from '../../../threads/index.js'
import type { BrokerLog } from './broker-log.js'

/**
 * Writes down what happens to the servers of a thread, without what they send.
 *
 * @param failures the level of a server's failure: `info` where somebody is told anyway
 */
export function logThreadEvent(log: BrokerLog, event: ThreadEvent, failures: 'info' | 'warn' = 'warn'): void {
  if (event.type === 'startup_summary') return
  if (event.type === 'review') {
    log.debug({ method: event.method }, 'automatic review')
    return
  }
  if (event.type === 'problem') {
    const { code, message } = event.problem
    log.warn({ code }, message)
    return
  }
  if (event.type === 'environment') {
    const { environment, status, error } = event
    log.info({ environment, ...(error !== undefined && { error }) }, `environment ${status}`)
    return
  }
  const server = displayKey(event.type === 'notification' ? event.notification.key : event.key)
  if (event.type === 'notification')
    log.debug({ server, method: event.notification.method }, 'notification of a server')
  else if (event.type === 'inventory_changed') log.debug({ server, what: event.what }, 'what a server offers changed')
  else if (event.type === 'warning') log.warn({ server, code: event.code }, event.message)
  else {
    const { status, error } = event
    log[status === 'failed' ? failures : 'info']({ server, ...(error !== undefined && { error }) }, `server ${status}`)
  }
}
