import type { ServerRequestHandler } from '../../connections/index.js'
import type { ServerKey } from '../../identity/index.js'
import type { JsonObject } from '../../protocol/index.js'
import type { Thread } from '../../threads/index.js'
import { withoutApprovalMarks } from './approval-marks.js'
import { markApproval, markQuestion } from './environment-marks.js'
import { executionEnvironment, isElsewhere, rootsThere } from './environment-roots.js'

const ELICIT = 'elicitation/create'
/** What a client is asked: by a person's or a model's leave, or for the folders of its machine. */
const QUESTIONS: ReadonlySet<string> = new Set([ELICIT, 'sampling/createMessage', 'roots/list'])

export interface QuestionsOptions {
  /** False for a client that sees one server as if it stood in the gateway's place: that asks in its own words. */
  readonly named: boolean
  /** The folder of an environment beside the host; absent: what the thread has selected there. */
  readonly workspaceOf?: ((environment: string) => string | undefined) | undefined
}

/**
 * What servers ask, on its way to one client: with the environment of those that belong to one. Roots of servers that run
 * elsewhere are not the client's to tell: these are answered here.
 */
export class Questions {
  readonly #options: QuestionsOptions
  #thread: Promise<Thread> | undefined

  constructor(options: QuestionsOptions) {
    this.#options = options
  }

  /** Whose servers they are. A question that comes while it starts waits: where a server runs is known then. */
  of(thread: Promise<Thread>): void {
    this.#thread = thread
  }

  /** The answer that is given here; undefined for what is the client's to answer. */
  async answered(key: ServerKey, method: string): Promise<JsonObject | undefined> {
    const thread = method === 'roots/list' ? await this.#thread : undefined
    if (thread === undefined || !isElsewhere(thread, key)) return undefined
    const { workspaceOf } = this.#options
    const id = executionEnvironment(thread, key)
    if (workspaceOf === undefined) return rootsThere(thread.environments.find((one) => one.id === id) ?? { id })
    const cwd = workspaceOf(id)
    return rootsThere({ id, ...(cwd !== undefined && { cwd }) })
  }

  /** Its params as the client is to see them. */
  shown(key: ServerKey, method: string, params: JsonObject | undefined): JsonObject | undefined {
    const own = method === ELICIT && params !== undefined ? withoutApprovalMarks(params) : params
    return this.#isMarked(key) && QUESTIONS.has(method) ? markQuestion(key, own ?? {}) : own
  }

  #approval(key: ServerKey, params: JsonObject | undefined): JsonObject | undefined {
    return this.#isMarked(key) ? markApproval(key, params ?? {}) : params
  }

  #isMarked({ environment }: ServerKey): boolean {
    return this.#options.named && environment !== null
  }

  /** Asks the client what is its own to answer. */
  through(ask: ServerRequestHandler): ServerRequestHandler {
    return async (request, signal) => {
      const { key, method, params } = request
      const answer = await this.answered(key, method)
      const shown = request.isApproval ? this.#approval(key, params) : this.shown(key, method, params)
      return answer ?? ask({ ...request, params: shown }, signal)
    }
  }
}
