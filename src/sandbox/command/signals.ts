import { constants } from 'node:os'
import type { SandboxWorld } from './child.js'

/** What a program that was told so ends with. */
export function statusOf(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal]
}

/** Whether a signal is meant to end a program. */
export function endsPrograms(signal: NodeJS.Signals): boolean {
  return signal === 'SIGTERM' || signal === 'SIGINT' || signal === 'SIGHUP' || signal === 'SIGQUIT'
}

/**
 * Takes signals from now on, and keeps them until there is somebody to pass them on to: none is lost while a sandbox is
 * being prepared.
 */
export function relaySignals(onSignal: SandboxWorld['onSignal']): {
  readonly onSignal: SandboxWorld['onSignal']
  readonly stop: () => void
} {
  const early: NodeJS.Signals[] = []
  let listener: ((signal: NodeJS.Signals) => void) | undefined
  const stop = onSignal((signal) => {
    if (listener === undefined) early.push(signal)
    else listener(signal)
  })
  return {
    stop,
    onSignal(next) {
      listener = next
      for (const signal of early.splice(0)) next(signal)
      return () => {
        listener = undefined
      }
    },
  }
}
