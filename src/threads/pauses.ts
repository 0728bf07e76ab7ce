import { OutOfBandPauses, type Pausable } from '../authority/index.js'
import type { ThreadPauses } from './types.js'

/**
 * What a thread's host sees of the clocks of its calls.
 *
 * @param refuse throws when the thread is closed
 */
export function threadPauses(clocks: () => Pausable, refuse: () => void): ThreadPauses {
  const pauses = new OutOfBandPauses({ pause: () => clocks().pause(), resume: () => clocks().resume() })
  return Object.freeze({
    increment() {
      refuse()
      return pauses.increment()
    },
    decrement() {
      refuse()
      return pauses.decrement()
    },
  })
}

/** Stops the clocks until the returned function is called; a second time does nothing. */
export function holdClocks(clocks: Pausable): () => void {
  let held = true
  clocks.pause()
  return () => {
    if (held) clocks.resume()
    held = false
  }
}
