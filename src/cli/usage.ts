import { ReeveError, type ReeveErrorFacts } from '../errors.js'

/** The command line itself is wrong: exit code 2. The message says what was expected. */
export class UsageError extends ReeveError {
  constructor(message: string, facts: ReeveErrorFacts = {}) {
    super('usage', message, facts)
  }
}
