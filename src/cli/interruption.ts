import { setMaxListeners } from 'node:events'
import { constants } from 'node:os'

export interface Interruption {
  readonly signal: AbortSignal
  /** The exit code of a stopped process (128 + the signal's number); undefined while nothing stopped it. */
  exitCode(): number | undefined
  /** Stops the work for another reason than a signal. */
  stop(exitCode: number): void
  /** From now on signals stop nothing here: the listener gets them, until what is returned is called. */
  passOn(listener: (signal: NodeJS.Signals) => void): () => void
}

const STOPPING = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** Those that mean something to a program run on our terminal, beside the ones that stop it. */
const OTHERS = ['SIGQUIT', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH'] as const

/**
 * Turns the first stopping signal into an abort, so that a verb can end its servers. A second one of the same sort as
 * Ctrl-C does not wait for that; what is left behind then is found in the journal at the next start.
 */
export function watchInterruption(process: NodeJS.Process): Interruption {
  const controller = new AbortController()
  // Every server that is waited for listens; there may be many.
  setMaxListeners(0, controller.signal)
  let exitCode: number | undefined
  const stop = (code: number): void => {
    exitCode ??= code
    controller.abort()
  }
  let listener: ((signal: NodeJS.Signals) => void) | undefined
  for (const name of STOPPING) {
    process.on(name, () => {
      if (listener !== undefined) return listener(name)
      const code = 128 + constants.signals[name]
      if (exitCode !== undefined && name === 'SIGINT') process.exit(code)
      stop(code)
    })
  }
  return {
    signal: controller.signal,
    exitCode: () => exitCode,
    stop,
    passOn(next) {
      listener = next
      for (const name of OTHERS) process.on(name, next)
      return () => {
        listener = undefined
        for (const name of OTHERS) process.off(name, next)
      }
    },
  }
}
