import type { Variables } from './client-variables.js'
import type { BrokerSession } from './open-session.js'

/**
 * The session of the process that a broker runs in. It goes by itself when the broker is stopped; when another version
 * takes over, it goes on serving, and this broker lives until it has left.
 */
export function hostSession(gone: Promise<void>, onStop: () => void): BrokerSession {
  return {
    closed: gone,
    client: () => undefined,
    start: async () => undefined,
    goodbye: (reason) => {
      if (reason === 'stopped') onStop()
    },
    close: () => gone,
  }
}

/** What a client in this very process answers when it is asked for variables. */
export function givenBy(env: Variables, names: readonly string[]): ReadonlyMap<string, string> {
  const given = new Map<string, string>()
  for (const name of names) {
    const value = Object.hasOwn(env, name) ? env[name] : undefined
    if (value !== undefined) given.set(name, value)
  }
  return given
}
