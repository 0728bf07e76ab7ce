import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/protocol/index.js'
import type { EraClient } from './clients/client.js'
import { COMBINATIONS, titleOf } from './combinations.js'
import { type Outcome, ScriptedServer } from './fidelity/scripted-server.js'
import { serveScript } from './fidelity/serve-script.js'
import { Gateways } from './gateways.js'

const ODD: JsonObject = { 'com.example/odd': { deep: [1, { a: null }] }, plain: 'kept' }
const OWN = 'io.modelcontextprotocol/'
/** What the other era has names for, said by one that has not. */
const OF_THE_OTHER: JsonObject = { resultType: 'odd', ttlMs: 'odd', cacheScope: 'odd' }
const TOOL: JsonObject = { name: 'plain', inputSchema: { type: 'object' } }

describe.each(COMBINATIONS.map((combination) => [titleOf(combination), combination] as const))(
  'one server in the place of the gateway: %s',
  (_title, { client: era, server, downstream, upstream }) => {
    const foreign = server === 'old' && era === 'new' ? OF_THE_OTHER : {}
    const scripted = new ScriptedServer(server, {
      hello: {
        ...foreign,
        ...(server === 'old' && era === 'new' && { supportedVersions: 'odd' }),
        ...ODD,
        serverInfo: { name: 'scripted', version: '1', odd: true },
        capabilities: { tools: {} },
        instructions: 'Be kind.',
        _meta: { 'com.example/hello': { a: [null] } },
      },
      respond: async (method): Promise<Outcome> => ({
        result:
          method === 'tools/list'
            ? { ...foreign, ...ODD, tools: [TOOL], _meta: { 'com.example/list': { b: 1 } } }
            : { content: [] },
      }),
    })
    let gateways: Gateways
    let client: EraClient
    beforeAll(async () => {
      gateways = await Gateways.open({ scripted: await serveScript(scripted, server, upstream) })
      client = await gateways.connect({
        era,
        transport: downstream,
        front: 'transparent',
        capabilities: { roots: {} },
        further: { ...ODD, _meta: { 'com.example/client': [1], 'codex/reserved': 'never', progressToken: 'mine' } },
      })
    })
    afterAll(async () => {
      await client?.[Symbol.asyncDispose]()
      await gateways?.[Symbol.asyncDispose]()
    })

    it("introduces it with all that it says, and with what is the gateway's to say", () => {
      const { whole } = client.introduction
      expect(whole).toMatchObject({ ...ODD, instructions: 'Be kind.', _meta: { 'com.example/hello': { a: [null] } } })
      expect(client.introduction.serverInfo).toEqual({ name: 'scripted', version: '1', odd: true })
      const rest =
        era === 'old'
          ? ['_meta', 'capabilities', 'com.example/odd', 'instructions', 'plain', 'serverInfo']
          : [
              '_meta',
              'cacheScope',
              'capabilities',
              'com.example/odd',
              'instructions',
              'plain',
              'resultType',
              'supportedVersions',
              'ttlMs',
            ]
      expect(Object.keys(whole).sort()).toEqual(rest)
      if (era === 'old') expect(whole._meta).toEqual({ 'com.example/hello': { a: [null] } })
      else expect(whole).toMatchObject({ resultType: 'complete', ttlMs: 0, cacheScope: 'private' })
    })

    it('lists its tools with all that stands beside them', async () => {
      const { tools, _meta, ...beside } = await client.request('tools/list')
      expect(tools).toEqual([TOOL])
      const { [`${OWN}serverInfo`]: said, ...meta } = _meta as JsonObject
      expect(meta).toEqual({ 'com.example/list': { b: 1 } })
      const own = era === 'old' ? {} : { resultType: 'complete', ttlMs: 0, cacheScope: 'private' }
      expect([beside, said === undefined]).toEqual([{ ...ODD, ...own }, era === 'old'])
    })

    // An old server is greeted once, before a new client discovers anything.
    const isGreetedBefore = era === 'new' && server === 'old'
    it(isGreetedBefore ? 'tells it nothing of that' : 'tells it all that the client says of itself', () => {
      const greeting = scripted.last(server === 'old' ? 'initialize' : 'server/discover') ?? {}
      if (isGreetedBefore) {
        expect(Object.keys(greeting).sort()).toEqual(['capabilities', 'clientInfo', 'protocolVersion'])
        return
      }
      expect(greeting).toMatchObject(ODD)
      const meta = Object.entries(greeting._meta as JsonObject).filter(([member]) => !member.startsWith(OWN))
      expect(Object.fromEntries(meta)).toEqual({ 'com.example/client': [1] })
      if (server === 'old')
        expect(greeting).toMatchObject({ protocolVersion: '2025-11-25', capabilities: { roots: {} } })
    })
  },
)
