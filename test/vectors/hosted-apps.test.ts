import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { APPS, appsRequests, appTool, offerApps } from '../standins/backend-apps.js'
import type { BackendModel, SeenRequest } from '../standins/backend-model.js'
import { startBackendRuntime } from '../standins/backend-runtime.js'
import { vectorCases } from './cases.js'
import { FILE, Modes, Record, runnable, titleOf, wantedOf } from './runtime-auth-cases.js'

const ON = { features: { apps: true } } as const
const CLIENT = { client: { clientInfo: { name: 'my-program', version: '1' } } }
const call = { ...APPS, tool: 't', arguments: {} }

const Input = z.looseObject({ mode: Modes, request: z.string(), anyOrder: z.array(z.string()).default([]) })
const Expected = z.object({ names: z.array(z.string()) })

/** Which request of a whole runtime a case is about. */
const REQUESTS: ReadonlyMap<string, (model: BackendModel) => SeenRequest | undefined> = new Map([
  ['codex_apps POST in a session', (model: BackendModel) => appsRequests(model, 'tools/call')[0]],
  [
    'connectors/directory/list',
    ({ requests }: BackendModel) => requests.find(({ path }) => path.endsWith('/connectors/directory/list')),
  ],
])

/** As on the wire; what HTTP says of the connection is nobody's of ours. */
function namesOf({ headers }: SeenRequest): readonly string[] {
  const transport = new Set(['host', 'connection', 'content-length', 'accept-encoding'])
  return headers.map(([name]) => name).filter((name) => !transport.has(name))
}

describe('the requests of a thread’s hosted apps, through a whole runtime', () => {
  const cases = runnable('headers').filter(({ input }) => REQUESTS.has(String(input.request)))

  it('are those of four cases', () => {
    expect(cases).toHaveLength(4)
  })

  for (const one of cases) {
    const { mode: modes, request, anyOrder } = Input.parse(one.input)
    for (const mode of modes) {
      it(`${one.name}: ${mode}`, async () => {
        await using world = await startBackendRuntime({ mode, ...ON })
        const { model } = world.backend
        offerApps(model, () => [appTool('t', {})])
        model.pathReplies.set('GET /backend-api/connectors/directory/list', [{ status: 200, body: '{"apps":[]}' }])
        const thread = await world.thread(CLIENT)
        await thread.callTool(call)
        await thread.apps.discover()
        const sent = REQUESTS.get(request)?.(model)
        if (sent === undefined) throw new Error('nothing was sent')
        const free = (names: readonly string[]) => names.map((name) => (anyOrder.includes(name) ? '<any>' : name))
        expect(free(namesOf(sent))).toEqual(free(Expected.parse(wantedOf(one)).names))
        for (const name of anyOrder) expect(namesOf(sent)).toContain(name)
      })
    }
  }
})

describe('hosted apps and the account, through a whole runtime', () => {
  const [logout] = vectorCases(FILE).filter(({ name }) => name === 'credential change: logout')
  const [foreign] = vectorCases(FILE).filter(({ name }) => name === 'eligibility: foreign chatgpt_base_url, codex_apps')

  for (const mode of ['off', 'dual_header', 'assertion_only'] as const) {
    it(`${logout?.name}, of the apps: ${mode}`, async () => {
      await using world = await startBackendRuntime({ mode, ...ON })
      const thread = await world.thread()
      await thread.callTool(call)
      await world.reeve.auth?.logout()
      await expect(thread.callTool(call)).rejects.toThrow(String(Record.parse(logout?.expected).codexApps))
    })
  }

  it(`${foreign && titleOf(foreign)}`, async () => {
    const baseUrl = z.looseObject({ chatgptBaseUrl: z.string() }).parse(foreign?.input).chatgptBaseUrl
    await using world = await startBackendRuntime({ mode: 'dual_header', ...ON, firstParty: { places: { baseUrl } } })
    const { model } = world.backend
    const thread = await world.thread()
    await thread.step()
    const sent = appsRequests(model)
    expect({ auth: sent.some(({ account }) => account !== null), sent: sent.length > 0 }).toEqual(foreign?.expected)
  })
})
