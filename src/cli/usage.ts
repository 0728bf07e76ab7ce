import { ReeveError, type ReeveErrorFacts } from '../errors.js'

/** The command line itself is wrong: exit code 2. The message says what was expected. */
export class UsageError extends ReeveError {
  constructor(message: string, facts: ReeveErrorFacts = {}, code = 'usage') {
    super(code, message, facts)
  }
}

/** An argument of a tool or prompt is missing, unknown or of another type. `place` names it. */
export class ArgumentError extends UsageError {
  constructor(message: string, facts: ReeveErrorFacts = {}) {
    super(message, facts, 'invalid_argument')
  }
}
