import { ClosedError } from '../../errors.js'
import { environmentId } from '../../identity/index.js'
import type { Environment } from '../environment.js'
import { ExecutorEnvironment, type ExecutorEnvironmentOptions } from '../executor/environment.js'
import { type ConnectorContext, connectorOf, LONGEST_TIMER } from './connector.js'
import { definitionHandle, type EnvironmentDefinition } from './definition.js'

export interface EnvironmentTableOptions extends Omit<ConnectorContext, 'host'> {
  /** The host: what registries show under `local`. Whoever made it closes it, after the table. */
  readonly host: Environment
  /** Times of every executor, for tests. */
  readonly executor?: Pick<ExecutorEnvironmentOptions, 'recoveryMs' | 'healthMs' | 'times'>
}

/** An environment that somebody holds: it stays open until he lets go of it. */
export interface HeldEnvironment {
  readonly environment: ExecutorEnvironment
  readonly handle: string
  /** Idempotent. Resolves when nothing that this was the last holder of is left. */
  release(): Promise<void>
}

interface Row {
  readonly environment: ExecutorEnvironment
  holders: number
}

/**
 * The executors that the runtimes of one process use: equal definitions are one environment, counted, and closed when
 * nobody holds it any more. Nothing connects before its first use.
 */
export class EnvironmentTable implements AsyncDisposable {
  readonly host: Environment
  readonly #options: EnvironmentTableOptions
  readonly #rows = new Map<string, Row>()
  readonly #closings = new Set<Promise<void>>()
  #closed: Promise<void> | undefined

  constructor(options: EnvironmentTableOptions) {
    this.#options = options
    this.host = options.host
  }

  /** How many executors are there now. */
  get size(): number {
    return this.#rows.size
  }

  /** Raises `ClosedError`. */
  hold(definition: EnvironmentDefinition): HeldEnvironment {
    if (this.#closed !== undefined) throw new ClosedError('the environment table')
    const handle = definitionHandle(definition)
    const row = this.#rows.get(handle) ?? this.#open(handle, definition)
    row.holders += 1
    let released: Promise<void> | undefined
    return Object.freeze({
      environment: row.environment,
      handle,
      release: () => {
        released ??= this.#release(handle, row)
        return released
      },
    })
  }

  /** Ends every executor's processes and connections, in parallel and bounded. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= this.#shutDown()
    return this.#closed
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #open(handle: string, definition: EnvironmentDefinition): Row {
    const { id, initializeTimeoutMs } = definition
    const environment = new ExecutorEnvironment({
      ...this.#options.executor,
      id: environmentId(id),
      connector: connectorOf(definition, this.#options),
      ...(initializeTimeoutMs !== undefined && { initializeMs: Math.min(initializeTimeoutMs, LONGEST_TIMER) }),
    })
    const row = { environment, holders: 0 }
    this.#rows.set(handle, row)
    return row
  }

  async #release(handle: string, row: Row): Promise<void> {
    row.holders -= 1
    if (row.holders > 0) return
    this.#rows.delete(handle)
    const closing = row.environment.close()
    this.#closings.add(closing)
    try {
      await closing
    } finally {
      this.#closings.delete(closing)
    }
  }

  async #shutDown(): Promise<void> {
    const open = [...this.#rows.values()].map(({ environment }) => environment.close())
    this.#rows.clear()
    await Promise.all([...open, ...this.#closings])
  }
}
