import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type RuntimeAuthMode, transportAuth, withoutOwned } from '../../src/auth/index.js'
import { createHttpClient } from '../../src/environments/index.js'
import { openSession } from '../fixtures/http/session.js'
import { eventually } from '../fixtures/stdio/running.js'
import { startBackend } from '../standins/backend.js'
import type { SeenRequest } from '../standins/backend-model.js'
import { readAssertion } from '../standins/backend-tokens.js'
import { AuthWorld } from '../standins/backend-world.js'
import { listed, Modes, Record, runnable, titleOf, wantedOf } from './runtime-auth-cases.js'

const PATH = '/backend-api/test/mcp'
const MODES = ['off', 'dual_header', 'assertion_only'] as const
/** Of the HTTP library, and of no interest here. */
const FRAMING = ['host', 'connection', 'content-length', 'accept-encoding', 'transfer-encoding']

/** A whole session over TLS through the real transport; every request that it sent to the server. */
async function wholeSession(mode: RuntimeAuthMode, httpHeaders = {}): Promise<readonly SeenRequest[]> {
  await using backend = await startBackend()
  const authHttp = backend.http
  const registrationUrl = 'https://auth.openai.com/agent/register'
  const places = { baseUrl: `${backend.origin}/backend-api/`, trustedOrigins: [backend.origin], registrationUrl }
  const { model } = backend
  const world = await AuthWorld.open({ model, http: authHttp, places, signedIn: { account: 'acct-1' } })
  const connection = world.context(mode).connect('mcp')
  const configured = Object.fromEntries(withoutOwned(Object.entries(httpHeaders), mode))
  const session = await openSession(`${backend.origin}${PATH}`, {
    http: createHttpClient({ env: {}, ca: [backend.ca] }),
    auth: transportAuth(connection),
    redirects: connection.redirects,
    server: { httpHeaders: configured },
  })
  await session.initialize()
  await eventually(() => expect(model.requests.some(({ method }) => method === 'GET')).toBe(true))
  await session.peer.request('tools/list')
  await session.peer.request('tools/call', { name: 't', arguments: {} })
  await session[Symbol.asyncDispose]()
  expect(model.violations).toEqual([])
  return model.requests.filter(({ path }) => path === PATH)
}

const REQUESTS: ReadonlyMap<string, (request: SeenRequest) => boolean> = new Map([
  ['mcp initialize', ({ body }) => body.includes('"initialize"')],
  ['mcp POST in a session', ({ body }) => body.includes('"tools/call"')],
  ['mcp GET stream', ({ method }) => method === 'GET'],
  ['mcp DELETE', ({ method }) => method === 'DELETE'],
])

describe('headers of MCP requests, over the real transport', () => {
  const sessions = new Map<RuntimeAuthMode, Promise<readonly SeenRequest[]>>()
  const sessionOf = (mode: RuntimeAuthMode) => {
    const running = sessions.get(mode) ?? wholeSession(mode)
    sessions.set(mode, running)
    return running
  }

  for (const one of runnable('headers')) {
    const { request, mode } = z.looseObject({ request: listed(z.string()), mode: Modes.default([]) }).parse(one.input)
    const isMeant = REQUESTS.get(request[0] ?? '')
    if (isMeant === undefined) continue
    for (const each of mode) {
      it(`${titleOf(one)}: ${each}`, async () => {
        const sent = (await sessionOf(each)).find(isMeant)
        const names = z.array(z.string()).parse(Record.parse(wantedOf(one)).names)
        // Connections, 10.2: a DELETE says nothing of what it accepts.
        const wanted = request[0] === 'mcp DELETE' ? names.filter((name) => name !== 'accept') : names
        expect(sent?.headers.map(([name]) => name).filter((name) => !FRAMING.includes(name))).toEqual(wanted)
      })
    }
  }

  it.each(['dual_header', 'assertion_only'] as const)('carry an assertion of their own each: %s', async (mode) => {
    const sent = await sessionOf(mode)
    const ids = sent.map(({ assertion }) => readAssertion(assertion ?? '').id)
    expect(sent.map(({ method }) => method).sort()).toEqual(['DELETE', 'GET', 'POST', 'POST', 'POST', 'POST'])
    expect(new Set(ids).size).toBe(6)
  })

  it.each(MODES)('leave a configured field of ours its place, and nothing else of it: %s', async (mode) => {
    const configured = { 'ChatGPT-Account-ID': 'cfg-account', 'x-openai-agent-assertion': 'cfg-assertion' }
    const sent = (await wholeSession(mode, configured)).find(({ body }) => body.includes('"tools/call"'))
    const fields = new Map(sent?.headers)
    expect([...fields.keys()].filter((name) => !FRAMING.includes(name)).slice(0, 2)).toEqual([
      'user-agent',
      'chatgpt-account-id',
    ])
    expect(fields.get('chatgpt-account-id')).toBe('acct-1')
    const assertion = fields.get('x-openai-agent-assertion')
    if (mode === 'off') expect(assertion).toBe('cfg-assertion')
    if (mode === 'dual_header') expect(assertion).toMatch(/^1\./)
    if (mode === 'assertion_only') expect(assertion).toBeUndefined()
  })
})
