import type { Era } from '../../protocol/index.js'
import type { ResultForm } from '../bridge/index.js'
import type { ClientTasks, TaskHost } from '../tasks/index.js'

/** What the era of a client decides: how results look, and how it uses tasks. */
export interface ClientSide {
  readonly era: Era
  readonly form: ResultForm
  readonly tasks: (host: TaskHost) => ClientTasks
}
