import { describe, expect, it } from 'vitest'
import { type ServerKey, serverKey } from '../../identity/index.js'
import type { JsonObject } from '../../protocol/index.js'
import type { Thread } from '../../threads/index.js'
import { Questions } from './environment-questions.js'
import { executionEnvironment, isElsewhere, rootsThere } from './environment-roots.js'

const row = (key: ServerKey, executesIn: string): ReturnType<Thread['servers']>[number] => ({
  key,
  status: 'connected',
  required: false,
  transport: 'stdio',
  executionEnvironment: executesIn,
  since: 0,
  cached: false,
})

describe('where a server runs', () => {
  const shared = serverKey('build')
  const thread = { servers: () => [row(shared, 'devbox'), row(serverKey('notes'), 'local')] }

  it('is what its row says, for a thread-wide server too', () => {
    expect(executionEnvironment(thread, shared)).toBe('devbox')
    expect(isElsewhere(thread, shared)).toBe(true)
    expect(isElsewhere(thread, serverKey('notes'))).toBe(false)
  })

  it('is its own environment when it has no row any more', () => {
    expect(executionEnvironment(thread, serverKey('notes', 'devbox'))).toBe('devbox')
    expect(executionEnvironment(thread, serverKey('gone'))).toBe('local')
  })
})

describe('the roots of an environment', () => {
  it('are its workspace roots, by their paths there', () => {
    expect(rootsThere({ id: 'devbox', cwd: '/srv', workspaceRoots: ['/srv/my app', '/opt/é'] })).toEqual({
      roots: [
        { uri: 'file:///srv/my%20app', name: 'my app (devbox)' },
        { uri: 'file:///opt/%C3%A9', name: 'é (devbox)' },
      ],
    })
  })

  it('are its working directory otherwise, on Windows in its own form', () => {
    expect(rootsThere({ id: 'win', cwd: 'C:\\Users\\me' })).toEqual({
      roots: [{ uri: 'file:///C:/Users/me', name: 'me (win)' }],
    })
    expect(rootsThere({ id: 'win', cwd: '\\\\host\\share' })).toMatchObject({ roots: [{ uri: 'file://host/share' }] })
  })

  it('are none where no directory is known', () => {
    expect(rootsThere({ id: 'devbox' })).toEqual({ roots: [] })
  })
})

describe('a question of a server', () => {
  const heard = async (key: ServerKey, method: string, params?: JsonObject) => {
    let told: JsonObject | undefined
    const ask = new Questions({ named: true }).through(async (request) => {
      told = request.params
      return {}
    })
    await ask({ key, method, params, origin: undefined }, new AbortController().signal)
    return told
  }

  it('has its environment named when it belongs to one', async () => {
    const key = serverKey('notes', 'devbox')
    expect(await heard(key, 'elicitation/create', { message: 'Sure?' })).toMatchObject({
      message: 'notes (environment devbox): Sure?',
    })
    expect(await heard(key, 'roots/list')).toEqual({ _meta: { 'reeve/environment_id': 'devbox' } })
  })

  it('is left alone otherwise', async () => {
    expect(await heard(serverKey('notes'), 'elicitation/create', { message: 'Sure?' })).toEqual({ message: 'Sure?' })
    expect(await heard(serverKey('notes', 'devbox'), 'com.example/ask', { a: 1 })).toEqual({ a: 1 })
  })
})
