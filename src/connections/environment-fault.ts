import { EnvironmentError } from '../errors.js'

/** The trouble of an environment behind an error, if that is what it comes from. */
export function environmentFault(error: unknown): EnvironmentError | undefined {
  let link = error
  for (let depth = 0; depth < DEEPEST && link instanceof Error; depth += 1) {
    if (link instanceof EnvironmentError) return link
    link = link.cause
  }
  return undefined
}

/** Whether the environment may come back by itself. Refused credentials do not get better by asking again. */
export function mayReturn(fault: EnvironmentError | undefined): boolean {
  return fault !== undefined && fault.code !== 'environment_unauthorized'
}

const DEEPEST = 8
