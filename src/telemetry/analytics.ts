import type { BackendPlaces } from '../auth/index.js'
import type { AnalyticsSettings } from '../config/index.js'
import type { ReeveError } from '../errors.js'
import type { AnalyticsQueue } from '../store/index.js'
import type { AnalyticsSink, AnalyticsThread } from '../threads/index.js'
import { ActorAnalytics, type AnalyticsTiming } from './actor-analytics.js'
import { type AnalyticsPlace, analyticsPlace } from './settings.js'

export interface AnalyticsOptions {
  readonly settings: AnalyticsSettings
  readonly queue: AnalyticsQueue
  readonly places: BackendPlaces
  /** Events that were lost; once per thread and reason. */
  readonly onwarning: (warning: ReeveError) => void
  readonly timing?: Partial<AnalyticsTiming>
}

/**
 * Analytics of one runtime. Off unless it is switched on; while it is off there is neither traffic nor disk.
 *
 * @example
 * ```ts
 * const sink = analytics.of({ id: thread.id, auth, client })
 * ```
 */
export class Analytics {
  readonly #options: AnalyticsOptions
  #place: AnalyticsPlace | undefined

  constructor(options: AnalyticsOptions) {
    this.#options = options
    this.#place = analyticsPlace(options.settings, options.places)
  }

  /** Also for the threads that are there. */
  configure(settings: AnalyticsSettings): void {
    this.#place = analyticsPlace(settings, this.#options.places)
  }

  /** A client for one thread: another one each time, also for a thread that is resumed. Undefined: nobody to tell it as. */
  of({ id, auth, client }: AnalyticsThread): AnalyticsSink | undefined {
    if (auth === undefined) return undefined
    const { queue, onwarning, timing } = this.#options
    return new ActorAnalytics({
      actor: id,
      auth,
      client,
      queue,
      place: () => this.#place,
      onwarning,
      ...(timing && { timing }),
    })
  }
}
