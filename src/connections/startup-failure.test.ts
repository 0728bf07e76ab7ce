import { describe, expect, it } from 'vitest'
import { httpServer, stdioServer } from '../../test/fixtures/connections/servers.js'
import { AuthRequiredError, InsufficientScopeError, ReeveError, StartupTimeoutError } from '../errors.js'
import { failureReason, failureText, type StoredAuthState, startupFailure } from './startup-failure.js'

const text = (...args: Parameters<typeof startupFailure>) => startupFailure(...args).message

describe('the text of a failed startup', () => {
  it('points to a token where GitHub is tried without one, whatever went wrong', () => {
    const github = { url: 'https://api.githubcopilot.com/mcp/' }
    const shown = text(httpServer('gh', {}, github), new Error('anything'), 'handshake')
    expect(shown).toContain('GitHub MCP does not support OAuth')
    expect(shown).toContain('bearer_token_env_var = "CODEX_GITHUB_PERSONAL_ACCESS_TOKEN"')
    expect(shown).toContain('[mcp_servers.gh]')
    for (const other of [
      { ...github, bearerTokenEnvVar: 'T' },
      { ...github, httpHeaders: { A: 'b' } },
      { url: 'https://api.githubcopilot.com/mcp' },
    ]) {
      expect(text(httpServer('gh', {}, other), new Error('anything'), 'handshake')).not.toContain('GitHub')
    }
  })

  it.each<[string, unknown]>([
    ['an error of that kind', new AuthRequiredError('401')],
    ['missing scopes', new InsufficientScopeError({ scope: 'read' })],
    ['a cause of that kind', new ReeveError('x', 'wrapped', { cause: new AuthRequiredError('401') })],
    ['the text', new Error('Auth required, when send initialize request')],
  ])('says that a server wants a login by %s', (_what, error) => {
    const failure = startupFailure(httpServer('docs'), error, 'handshake')
    expect(failure.message).toBe('The docs MCP server is not logged in. Run `reeve login docs`.')
    expect(failure.authRequired).toBe(true)
  })

  it('names the environment of a server that one contributed, and no other', () => {
    const scoped = httpServer('docs', { environmentId: 'devbox' }, {}, 'devbox')
    expect(text(scoped, new AuthRequiredError('401'), 'handshake')).toBe(
      'The docs (environment devbox) MCP server is not logged in. Run `reeve login docs --env devbox`.',
    )
    const placed = httpServer('docs', { environmentId: 'devbox' })
    expect(text(placed, new AuthRequiredError('401'), 'handshake')).toBe(
      'The docs MCP server is not logged in. Run `reeve login docs`.',
    )
  })

  it.each<StoredAuthState>(['oauth', 'logged_out_needs_reauthentication'])(
    'asks for another login after one: %s',
    (auth) => {
      const failure = startupFailure(httpServer('docs'), new AuthRequiredError('401'), 'handshake', auth)
      expect(failure.message).toContain('requires OAuth reauthentication')
      expect(failure.data?.failureReason).toBe('reauthenticationRequired')
    },
  )

  it('gives a reason for one of the eight combinations of login state and failure only', () => {
    const states: (StoredAuthState | undefined)[] = [undefined, 'unsupported', 'logged_out', 'bearer_token']
    for (const state of states) expect(failureReason(true, state)).toBeUndefined()
    for (const state of [...states, 'oauth', 'logged_out_needs_reauthentication'] as const) {
      expect(failureReason(false, state)).toBeUndefined()
    }
    expect(failureReason(true, 'oauth')).toBe('reauthenticationRequired')
  })

  it.each<[string, unknown]>([
    ['opening', new StartupTimeoutError('opening', 30_000)],
    ['handshake', new StartupTimeoutError('handshake', 30_000)],
    ['listing', new StartupTimeoutError('listing', 30_000)],
    ['a text', new Error('request timed out')],
  ])('names the setting that gives more time: %s', (_what, error) => {
    expect(text(stdioServer('s'), error, 'listing')).toBe(
      'MCP client for `s` timed out after 30 seconds. Add or adjust `startup_timeout_sec` in your config.toml:\n' +
        '[mcp_servers.s]\nstartup_timeout_sec = XX',
    )
  })

  it('quotes a name that is no bare key, and shows parts of a second', () => {
    const shown = text(
      stdioServer('a.b', { startupTimeoutMs: 250 }),
      new StartupTimeoutError('opening', 250),
      'opening',
    )
    expect(shown).toContain('timed out after 0.25 seconds')
    expect(shown).toContain('[mcp_servers."a.b"]')
  })

  it('keeps the raw text, the cause and its facts', () => {
    const cause = new ReeveError('process_failed', 'exited with code 3', { data: { exitCode: 3 } })
    const failure = startupFailure(stdioServer('s'), cause, 'opening')
    expect(failure.message).toBe('MCP client for `s` failed to start: MCP startup failed: exited with code 3')
    expect(failureText(failure)).toBe('exited with code 3')
    expect(failure.cause).toBe(cause)
    expect(failure.data).toMatchObject({ code: 'process_failed', exitCode: 3 })
    expect(startupFailure(stdioServer('s'), failure, 'listing')).toBe(failure)
  })
})

it('tells others than the local user what to ask the operator for', () => {
  const failure = startupFailure(httpServer('docs'), new AuthRequiredError('401'), 'handshake', 'logged_out', 'oauth-1')
  expect(failure.message).toBe('The docs MCP server is not logged in. Run `reeve login docs --principal oauth-1`.')
})
