import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { BackendClient, type RuntimeAuthMode, transportAuth } from '../../src/auth/index.js'
import { createHttpClient } from '../../src/environments/index.js'
import type { HttpAuth } from '../../src/transports/index.js'
import { openSession } from '../fixtures/http/session.js'
import { eventually } from '../fixtures/stdio/running.js'
import { type Backend, startBackend } from '../standins/backend.js'
import type { SeenRequest } from '../standins/backend-model.js'
import { AuthWorld } from '../standins/backend-world.js'
import { listed, Modes, Record, runnable, titleOf, wantedOf } from './runtime-auth-cases.js'

const PATH = '/backend-api/test/mcp'
const Input = z.looseObject({
  client: z.string(),
  request: z.string().optional(),
  method: z.enum(['GET', 'POST', 'PUT', 'DELETE']),
  status: listed(z.number()),
  target: listed(z.string()),
  mode: Modes,
})

/** One thread against one backend, over TLS. */
async function reached<T>(mode: RuntimeAuthMode, work: (on: Reached) => Promise<T>): Promise<T> {
  await using backend = await startBackend()
  const authHttp = backend.http
  const places = {
    baseUrl: `${backend.origin}/backend-api/`,
    trustedOrigins: [backend.origin],
    registrationUrl: 'https://auth.openai.com/agent/register',
  }
  const { model } = backend
  const world = await AuthWorld.open({ model, http: authHttp, places, signedIn: { account: 'acct-1' } })
  return await work({ backend, world, mode, client: new BackendClient(world.context(mode), authHttp) })
}

interface Reached {
  readonly backend: Backend
  readonly world: AuthWorld
  readonly mode: RuntimeAuthMode
  readonly client: BackendClient
}

function locationFor(target: string, { origin, port }: Backend, path: string): string {
  if (target.startsWith('same origin')) return `${origin}${path}`
  if (target === 'other first-party origin') return `https://api.openai.com${path}`
  if (target === 'other scheme') return `http://localhost:${port}${path}`
  return `https://other.example.test${path}`
}

describe('redirects of MCP connections, over the real transport', () => {
  for (const one of runnable('redirects')) {
    const { client, request = '', method, status, target, mode } = Input.parse(one.input)
    if (client !== 'mcp') continue
    for (const each of mode) {
      for (const code of status) {
        for (const where of target) {
          it(`${titleOf(one)}: ${each} ${code} ${where}`, () =>
            reached(each, async (on) => {
              const wanted = Record.parse(wantedOf(one))
              const { error, requests } = await redirected(on, { request, method, code, where })
              const isMeant = ({ method: sent }: SeenRequest) =>
                sent === method || (method === 'POST' && sent === 'GET')
              if (wanted.requests !== undefined)
                expect(requests.filter(isMeant).map(({ method: sent }) => sent)).toEqual(wanted.requests)
              const isBad = wanted.outcome === 'error' || wanted.outcome === 'startup failed'
              if (isBad) expect(error).toMatchObject({ code: 'redirect_refused' })
              else expect(error).toBeUndefined()
              if (wanted.errorCode !== undefined) expect(error).toMatchObject({ code: wanted.errorCode })
              if (wanted.sameHeaders !== undefined) expect(requests[0]?.headers).toEqual(requests[1]?.headers)
              expect(on.backend.model.violations).toEqual([])
            }))
        }
      }
    }
  }

  /** Brings a session to where the request is due, answers it with the redirect, and tells what went out from then on. */
  async function redirected(
    { backend, world, mode }: Reached,
    { request, method, code, where }: { request: string; method: string; code: number; where: string },
  ): Promise<{ error: unknown; requests: readonly SeenRequest[] }> {
    const { model } = backend
    const connection = world.context(mode).connect('mcp')
    const auth: HttpAuth = transportAuth(connection)
    const http = createHttpClient({ env: {}, ca: [backend.ca] })
    await using session = await openSession(`${backend.origin}${PATH}`, { http, auth, redirects: connection.redirects })
    const location = locationFor(where, backend, '/backend-api/moved/mcp')
    const script = () => void model.pathReplies.set(`${method} ${PATH}`, [{ status: code, headers: { location } }])
    const failure = async (work: Promise<unknown>) => work.then(() => undefined).catch((error: unknown) => error)
    let from = 0
    let error: unknown
    if (request === 'initialize' || request === 'GET stream') {
      script()
      from = request === 'initialize' ? requestsSoFar() : 0
      error = await failure(session.initialize())
      if (request === 'GET stream') {
        const gets = () => model.requests.filter((sent) => sent.method === 'GET').length
        await eventually(() => expect(gets()).toBe(mode === 'off' && where === 'same origin' ? 2 : 1))
        error = await failure(session.peer.request('tools/call', { name: 't', arguments: {} }))
      }
      const isMeant = ({ path, body }: SeenRequest) =>
        path.endsWith('/mcp') && (request !== 'initialize' || body.includes('"initialize"'))
      return { error, requests: model.requests.slice(from).filter(isMeant) }
    }
    if (request === 'notifications/initialized') {
      await session.peer.request('initialize', { protocolVersion: '2025-06-18', capabilities: {} })
      script()
      from = requestsSoFar()
      error = await failure(session.peer.notify('notifications/initialized'))
    } else {
      await session.initialize()
      await eventually(() => expect(model.requests.some((sent) => sent.method === 'GET')).toBe(true))
      script()
      from = requestsSoFar()
      if (request === 'DELETE') await session.peer.close()
      else error = await failure(session.peer.request('tools/call', { name: 't', arguments: {} }))
    }
    return { error, requests: model.requests.slice(from).filter(({ path }) => path.endsWith('/mcp')) }

    function requestsSoFar(): number {
      return model.requests.length
    }
  }
})

describe('redirects of the other clients', () => {
  const LAYOUTS = {
    'connectors/directory/list': ['app_directory', '/backend-api/connectors/directory/list'],
    'files create': ['file_create', '/backend-api/files'],
    'files finalise': ['file_finalise', '/backend-api/files/1/uploaded'],
    'analytics events': ['analytics_events', '/backend-api/codex/analytics-events/events'],
    'files storage PUT': ['storage_put', '/storage/put/1'],
  } as const
  const Client = z.enum([
    'connectors/directory/list',
    'files create',
    'files finalise',
    'analytics events',
    'files storage PUT',
  ])

  for (const one of runnable('redirects')) {
    const input = Input.parse(one.input)
    if (input.client === 'mcp') continue
    const client = Client.parse(input.client)
    for (const mode of input.mode) {
      it(`${titleOf(one)}: ${mode}`, () =>
        reached(mode, async (on) => {
          const wanted = Record.parse(wantedOf(one))
          const endless = input.target[0] === 'same origin, endless'
          const { error, requests } = await redirected(on, client, input, endless ? 20 : 1)
          if (wanted.requests !== undefined) expect(requests.map(({ method }) => method)).toEqual(wanted.requests)
          if (wanted.maxRedirects !== undefined) expect(requests.length - 1).toBe(wanted.maxRedirects)
          if (wanted.outcome === 'error' || endless) expect(error).toMatchObject({ code: 'redirect_refused' })
          expect(String(error)).not.toContain('/moved')
        }))
    }
  }

  it('follows them with the feature off, within the origin and at most ten', () =>
    reached('off', async (on) => {
      const facts = { method: 'GET', status: [307], target: ['same origin'] } as const
      const { error, requests } = await redirected(on, 'connectors/directory/list', facts, 20)
      expect(requests).toHaveLength(11)
      expect(error).toMatchObject({ code: 'redirect_refused' })
    }))

  it('lets neither account nor body leave the origin with the feature off', () =>
    reached('off', async (on) => {
      const facts = { method: 'POST', status: [307], target: ['other origin'] } as const
      const { error, requests } = await redirected(on, 'files create', facts, 1)
      expect(requests.map(({ host }) => host)).toEqual(['localhost'])
      expect(error).toMatchObject({
        code: 'redirect_refused',
        message: expect.stringContaining('https://other.example.test'),
      })
    }))

  async function redirected(
    { backend, client }: Reached,
    name: z.infer<typeof Client>,
    { method, status, target }: { method: string; status: readonly number[]; target: readonly string[] },
    times: number,
  ): Promise<{ error: unknown; requests: readonly SeenRequest[] }> {
    const { model } = backend
    const [layout, path] = LAYOUTS[name]
    const location = locationFor(target[0] ?? '', backend, times > 1 ? path : '/backend-api/moved')
    const redirect = { status: status[0] ?? 307, headers: { location } }
    model.pathReplies.set(
      `${method} ${path}`,
      Array.from({ length: times }, () => redirect),
    )
    const verb = z.enum(['GET', 'POST', 'PUT']).parse(method)
    const { signal } = new AbortController()
    const request = { layout, method: verb, url: `${backend.origin}${path}`, headers: {}, signal } as const
    const error = await client
      .send({ ...request, ...(verb !== 'GET' && { body: '{}' }) })
      .then(() => undefined)
      .catch((failure: unknown) => failure)
    return { error, requests: model.requests.filter(({ path: sent }) => sent !== '/agent/register') }
  }
})
