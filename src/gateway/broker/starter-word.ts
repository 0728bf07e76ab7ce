import { closeSync, writeSync } from 'node:fs'

/** The variable that tells a broker's process that its starter waits for a word on descriptor 3. */
export const WAITED_FOR = 'REEVE_BROKER_WAITED_FOR'
const DESCRIPTOR = 3

/** How a start went. A process that ends without a word has failed too. */
export type StarterWord = 'ready' | 'another one runs' | { readonly fault: string }

/** Says it to whoever started this process in the background, if somebody waits for it. */
export function tellStarter(env: Readonly<Record<string, string | undefined>>, word: StarterWord): void {
  if (env[WAITED_FOR] !== '1') return
  try {
    writeSync(DESCRIPTOR, typeof word === 'string' ? word : `${FAULT}${word.fault}`)
    closeSync(DESCRIPTOR)
  } catch {
    // It waits no more.
  }
}

/** What went wrong, as it was said; undefined when nothing did. */
export function startFault(said: string): string | undefined {
  return said.startsWith(FAULT) ? said.slice(FAULT.length) : undefined
}

const FAULT = 'fault: '
