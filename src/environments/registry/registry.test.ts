import { once } from 'node:events'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type EnvironmentConnection, type EnvironmentSettings, HOST_ALONE } from '../../config/index.js'
import { serveExecutorWebSocket } from '../../executor/index.js'
import type { EnvironmentState } from '../environment.js'
import { createHttpClient } from '../http/client.js'
import { LocalEnvironment } from '../local.js'
import { EnvironmentRegistry } from './registry.js'
import { EnvironmentTable } from './table.js'

const ORIGIN = { file: 'environments.toml', layer: 'user' } as const

function table(env: Readonly<Record<string, string>> = {}): EnvironmentTable {
  const host = new LocalEnvironment({ http: createHttpClient({ env: {} }) })
  const made = new EnvironmentTable({ host, env, cwd: tmpdir() })
  onTestFinished(async () => {
    await made.close()
    await host.close()
  })
  return made
}

function settings(...entries: readonly (readonly [string, EnvironmentConnection])[]): EnvironmentSettings {
  return {
    ...HOST_ALONE,
    entries: entries.map(([id, connection]) => ({ id, connection, origin: ORIGIN })),
    defaultSelection: ['local', ...entries.map(([id]) => id)],
  }
}

const at = (url: string): EnvironmentConnection => ({ kind: 'url', url })
const NOWHERE = at('ws://127.0.0.1:1')

async function executor(token?: string): Promise<string> {
  const started = await serveExecutorWebSocket({
    host: '127.0.0.1',
    port: 0,
    authentication: token === undefined ? { kind: 'none' } : { kind: 'capability-token', sha256: await sha256(token) },
    env: { PATH: process.env.PATH ?? '', HOME: '/' },
    cwd: '/',
  })
  onTestFinished(() => started[Symbol.asyncDispose]())
  return started.url
}

async function sha256(text: string): Promise<Buffer> {
  return Buffer.from(await crypto.subtle.digest('SHA-256', Buffer.from(text)))
}

describe('the environments of a runtime', () => {
  it('has the host first, then the others in order, and connects to none of them', async () => {
    const server = createServer()
    let connections = 0
    server.on('connection', (socket) => {
      connections += 1
      socket.destroy()
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => void server.close())
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : undefined
    const registry = new EnvironmentRegistry(table(), settings(['b', at(`ws://127.0.0.1:${port}`)], ['a', NOWHERE]))
    expect(registry.ids).toEqual(['local', 'b', 'a'])
    expect(registry.get('local')).toMatchObject({ environment: { kind: 'local' } })
    expect(registry.get('local')).not.toHaveProperty('handle')
    expect(registry.get('constructor')).toBeUndefined()
    expect([registry.status('b'), registry.status('local')]).toEqual([{ status: 'pending' }, { status: 'ready' }])
    expect(connections).toBe(0)
    registry.warm(['b', 'local', 'nobody'])
    await once(server, 'connection')
  })

  it('tells the states of all of them, those added later too', async () => {
    const registry = new EnvironmentRegistry(table(), settings(['far', NOWHERE]))
    const told: string[] = []
    const ready = new Promise<void>((resolve) => {
      registry.onstate((id, state: EnvironmentState) => {
        told.push(`${id} ${state.is}`)
        if (state.is === 'ready') resolve()
      })
    })
    await expect(registry.info('far')).rejects.toMatchObject({ code: 'environment_unreachable' })
    expect(registry.status('far')).toMatchObject({ status: 'disconnected' })
    registry.add('far', at(await executor()))
    registry.warm(['far'])
    await ready
    registry.replace(HOST_ALONE)
    expect(told).toEqual(['far connecting', 'far failed', 'far idle', 'far connecting', 'far ready'])
    expect(registry.ids).toEqual(['local', 'far'])
  })

  it('keeps what a new configuration did not change, with its processes', async () => {
    const shared = table()
    const url = await executor()
    const registry = new EnvironmentRegistry(shared, settings(['kept', at(url)], ['gone', NOWHERE]))
    const kept = registry.get('kept')
    const gone = registry.get('gone')
    const running = await kept?.environment.spawn({ program: 'cat', args: [], env: {}, cwd: '/', label: 'cat' })
    const told: string[] = []
    registry.onstate((id, { is }) => told.push(`${id} ${is}`))
    registry.replace(settings(['new', NOWHERE], ['kept', at(url)]))
    expect(registry.ids).toEqual(['local', 'new', 'kept'])
    expect(registry.get('kept')).toBe(kept)
    await running?.write('x')
    expect(told).toEqual(['gone closed'])
    expect(gone?.environment.state.is).toBe('closed')
    await registry.close()
    expect(await running?.exited).not.toHaveProperty('failure')
    expect(shared.size).toBe(0)
  })

  it('shares an environment among runtimes with one definition, until the last lets go', async () => {
    const shared = table()
    const url = await executor()
    const one = new EnvironmentRegistry(shared, settings(['far', at(url)]))
    const two = new EnvironmentRegistry(shared, settings(['far', at(url)]))
    const other = new EnvironmentRegistry(shared, settings(['far', { kind: 'url', url, bearerToken: 's3cret' }]))
    expect(one.get('far')?.environment).toBe(two.get('far')?.environment)
    expect(other.get('far')?.environment).not.toBe(two.get('far')?.environment)
    expect(other.get('far')?.handle).not.toBe(two.get('far')?.handle)
    expect(JSON.stringify(other.get('far')?.handle)).not.toContain('s3cret')
    await one.close()
    await one.close()
    expect(await two.info('far')).toMatchObject({ cwd: 'file:///' })
    const held = two.get('far')?.environment
    await two.close()
    expect(held?.state.is).toBe('closed')
  })

  it('refuses what the file would refuse', () => {
    const registry = new EnvironmentRegistry(table())
    for (const [id, connection, code] of [
      ['local', NOWHERE, 'reserved_id'],
      ['none', NOWHERE, 'reserved_id'],
      ['a b', NOWHERE, 'id_charset'],
      ['__proto__!', NOWHERE, 'id_charset'],
      ['x', at('none'), 'disabled_url'],
      ['x', at('http://h'), 'url_scheme'],
      ['x', { kind: 'url', url: 'ws://10.0.0.1', bearerToken: 't' }, 'insecure_token'],
      ['x', { kind: 'command', program: '', args: [], env: {} }, 'empty'],
    ] as const)
      expect(() => registry.add(id, connection)).toThrow(expect.objectContaining({ code }))
    expect(registry.ids).toEqual(['local'])
  })

  it('reads the token from its variable at every connection, and says when it is not set', async () => {
    const url = await executor('s3cret-token')
    const connection: EnvironmentConnection = { kind: 'url', url, bearerTokenEnvVar: 'BOX_TOKEN' }
    const set = new EnvironmentRegistry(table({ BOX_TOKEN: 's3cret-token' }), settings(['box', connection]))
    expect(await set.info('box')).toMatchObject({ cwd: 'file:///' })
    const unset = new EnvironmentRegistry(table(), settings(['box', connection]))
    await expect(unset.info('box')).rejects.toMatchObject({
      code: 'environment_unauthorized',
      message: expect.stringContaining('BOX_TOKEN'),
    })
    const wrong = new EnvironmentRegistry(table(), settings(['box', { kind: 'url', url, bearerToken: 'wrong' }]))
    await expect(wrong.info('box')).rejects.toMatchObject({ code: 'environment_unauthorized' })
  })

  it('says what a command wrote last when it is no executor', async () => {
    const program = process.execPath
    const args = ['-e', 'console.error("host key verification failed"); process.exitCode = 255']
    const registry = new EnvironmentRegistry(table(), settings(['box', { kind: 'command', program, args, env: {} }]))
    await expect(registry.info('box')).rejects.toMatchObject({
      code: 'environment_unreachable',
      message: expect.stringContaining('(exit code 255): host key verification failed'),
    })
  })

  it('hands a command the usual variables, those to connect with, and its own: nothing else', async () => {
    const program = process.execPath
    const args = ['-e', 'console.error(JSON.stringify(process.env))']
    const env = { PATH: '/bin', SSH_AUTH_SOCK: '/agent', API_KEY: 's3cret' }
    const command = { kind: 'command', program, args, env: { OWN: '1', PATH: '/own' } } as const
    const registry = new EnvironmentRegistry(table(env), settings(['box', command]))
    const failed = await registry.info('box').then(
      () => '',
      (error: Error) => error.message,
    )
    expect(JSON.parse(failed.slice(failed.indexOf('{')))).toEqual({ PATH: '/own', OWN: '1', SSH_AUTH_SOCK: '/agent' })
  })
})
