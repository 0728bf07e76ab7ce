import { SandboxCommandError } from '../../errors.js'

/** Nothing is run with less than the profile asks for. */
export function unenforceable(reason: string, place: string): SandboxCommandError {
  return new SandboxCommandError(
    'sandbox_unenforceable',
    `the profile can't be enforced here, so nothing was run: ${reason}`,
    { place },
  )
}
