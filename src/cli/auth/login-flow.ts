import { createInterface } from 'node:readline'
import { CancelledError, OAuthError } from '../../errors.js'
import type { LoggedIn, LoginServer, PendingLogin, Reeve, ServerLoginOptions } from '../../reeve.js'
import type { Cli } from '../cli.js'
import { oneLine } from '../printable.js'
import { openBrowser } from './open-browser.js'

export interface FlowOptions {
  /** False: the URL is printed only. */
  readonly browser: boolean
  /** Milliseconds to wait for the user. */
  readonly waitMs: number
  readonly login: Omit<ServerLoginOptions, 'redirectUri' | 'signal'>
}

/**
 * The authorization code flow with a user: a browser that comes back to this machine, or the address that it came back to,
 * pasted, from the start. Whichever is first counts; what is not of this login is told and waited on.
 *
 * @throws as `Reeve.login` and `PendingLogin.complete`; OAuthError `oauth_callback_unavailable` when nobody came in time
 */
export async function runLogin(cli: Cli, reeve: Reeve, server: LoginServer, options: FlowOptions): Promise<LoggedIn> {
  const { CallbackListener, callbackPlace } = await import('../../reeve.js')
  const place = callbackPlace(server.config, reeve.config.oauth)
  const listener = await CallbackListener.listen(place).catch((error: unknown) => {
    // Without a port of its own it can still be pasted, when it is known what address it will be.
    if (!(error instanceof OAuthError) || place.port === 0) throw error
    cli.err.warn(`${error.message}; paste the address instead`)
    return undefined
  })
  try {
    const redirectUri = place.uri(listener?.port ?? place.port)
    const signal = cli.signal
    const begin = (login: FlowOptions['login']) => reeve.login(server, { ...login, redirectUri, signal })
    const pending = await begin(options.login)
    try {
      return await withUser(cli, pending, listener, options)
    } catch (error) {
      if (!pending.scopesDiscovered || !refusesScopes(error)) throw error
      cli.err.warn('the authorization server refuses the scopes that it publishes: asking without any')
      return await withUser(cli, await begin({ ...options.login, scopes: [] }), listener, options)
    }
  } finally {
    await listener?.[Symbol.asyncDispose]()
  }
}

function refusesScopes(error: unknown): boolean {
  return error instanceof OAuthError && error.code === 'oauth_denied' && error.data?.error === 'invalid_scope'
}

interface Listening {
  ontake: { readonly path: string; readonly take: (url: string) => Promise<boolean> } | undefined
}

async function withUser(
  cli: Cli,
  pending: PendingLogin,
  listener: Listening | undefined,
  { browser, waitMs }: FlowOptions,
): Promise<LoggedIn> {
  const done = new Completion(cli, pending)
  const lines = createInterface({ input: cli.stdin, terminal: false })
  const timer = setTimeout(() => done.fail(nobodyCame(waitMs)), waitMs)
  const stop = () => done.fail(new CancelledError('the login was stopped'))
  try {
    if (cli.signal.aborted) stop()
    cli.signal.addEventListener('abort', stop, { once: true })
    if (listener !== undefined) {
      listener.ontake = { path: new URL(pending.redirectUri).pathname, take: (url) => done.take(url) }
    }
    lines.on('line', (line) => line.trim() !== '' && void done.take(line))
    await tellUser(cli, pending, browser)
    return await done.outcome
  } finally {
    clearTimeout(timer)
    cli.signal.removeEventListener('abort', stop)
    lines.close()
    // A terminal would keep the process alive otherwise.
    cli.stdin.pause()
    if (listener !== undefined) listener.ontake = undefined
  }
}

async function tellUser(cli: Cli, { authorizationUrl, redirectUri }: PendingLogin, browser: boolean): Promise<void> {
  if (cli.json) {
    cli.err.error(JSON.stringify({ authorization_url: authorizationUrl, redirect_uri: redirectUri }))
  } else {
    cli.err.error(`Open this address to log in:\n\n  ${authorizationUrl}\n`)
    cli.err.error('If the browser is on another machine, paste the address that it ends at here.')
  }
  if (browser && !(await openBrowser(authorizationUrl, cli.env)))
    cli.err.line('no browser could be started: open the address yourself')
}

function nobodyCame(waitMs: number): OAuthError {
  return new OAuthError('oauth_callback_unavailable', `nobody logged in within ${Math.round(waitMs / 1000)} s`)
}

/** The first callback that is of this login ends it, one way or the other. */
class Completion {
  readonly outcome: Promise<LoggedIn>
  readonly #cli: Cli
  readonly #pending: PendingLogin
  #succeed: (loggedIn: LoggedIn) => void = () => undefined
  fail: (error: unknown) => void = () => undefined

  constructor(cli: Cli, pending: PendingLogin) {
    this.#cli = cli
    this.#pending = pending
    this.outcome = new Promise((resolve, reject) => {
      this.#succeed = resolve
      this.fail = reject
    })
    // Whoever waits for it may not have begun yet.
    this.outcome.catch(() => undefined)
  }

  /** True when it was taken and led to a login. */
  async take(callback: string): Promise<boolean> {
    try {
      this.#succeed(await this.#pending.complete(callback, this.#cli.signal))
      return true
    } catch (error) {
      if (error instanceof OAuthError && error.code === 'oauth_callback_refused') {
        this.#cli.err.warn(oneLine(error.message))
      } else this.fail(error)
      return false
    }
  }
}
