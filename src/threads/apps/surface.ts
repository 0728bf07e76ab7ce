import type { DirectoryApp } from './directory.js'

export type { DirectoryApp }

/** An app whose tools the thread has. */
export interface HostedApp {
  /** Of its connector; null for tools that name none. */
  readonly id: string | null
  readonly name: string | null
  readonly description?: string
  /** Where somebody signs in to it. */
  readonly installUrl?: string
  /** False: the configuration switches it, or all of its tools, off. */
  readonly enabled: boolean
  /** Raw names, as the server gave them. */
  readonly tools: readonly string[]
}

/** The hosted apps of a thread, as its own account has them. */
export interface Apps {
  /** Whether the thread has any: the feature is on, and its account uses the backend. */
  readonly isOn: boolean
  /**
   * What is known now: what the server offers, or while that is not up what was kept of it. Waits for the server only where
   * nothing was kept.
   *
   * @throws FirstPartyAuthError `no_owning_context` the thread has no auth; UnknownServerError there are no apps for it;
   *   StartupFailedError
   */
  list(options?: AppsOptions): Promise<readonly HostedApp[]>
  /** Lists the tools anew first. Calls that were prepared before with what is different now are refused. Throws as `list`. */
  refresh(options?: AppsOptions): Promise<readonly HostedApp[]>
  /**
   * The directory: what the account could use, beside what it does.
   *
   * @throws FirstPartyAuthError `no_owning_context`, and others, nothing was sent; ReeveError `app_directory`
   */
  discover(options?: AppsOptions): Promise<readonly DirectoryApp[]>
}

export interface AppsOptions {
  readonly signal?: AbortSignal
}
