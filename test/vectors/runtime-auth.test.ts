import { createHash } from 'node:crypto'
import { parse } from 'smol-toml'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { runtimeModeOf, statusRuntimeMode, threadRuntimeMode } from '../../src/auth/index.js'
import { mintAssertion } from '../../src/auth/runtime/assertion.js'
import { firstPartyIssuer } from '../../src/auth/runtime/issuer.js'
import { runtimeKeyFromSeed } from '../../src/auth/runtime/key-pair.js'
import { MCP_URL, McpConnection } from '../standins/backend-mcp.js'
import { readAssertion } from '../standins/backend-tokens.js'
import { AuthWorld } from '../standins/backend-world.js'
import { vectorCases } from './cases.js'
import { FILE, PENDING, Record, runnable, titleOf, wantedOf } from './runtime-auth-cases.js'

describe('the mode of the configuration', () => {
  for (const one of runnable('configMode')) {
    const input = z
      .looseObject({
        toml: z.string().optional(),
        threadConfig: Record.optional(),
        threadModeAtCreation: z.enum(['off', 'dual_header', 'assertion_only']).optional(),
        configAfter: z.literal('assertion_only').optional(),
        connection: z.string().optional(),
      })
      .parse(one.input)
    it(titleOf(one), async () => {
      const wanted = Record.parse(wantedOf(one))
      const { toml, threadConfig, threadModeAtCreation: first = 'off', configAfter = 'off' } = input
      if (toml !== undefined) {
        const features = Record.parse(parse(toml).features ?? {})
        const read = () => threadRuntimeMode(features, threadConfig)
        if (wanted.error === undefined) expect({ mode: read() }).toEqual(wanted)
        else expect(read).toThrow(z.object({ textContains: z.string() }).parse(wanted.error).textContains)
      } else if (input.connection === undefined) {
        const world = await AuthWorld.open()
        const live = world.context(first)
        const next = world.context(runtimeModeOf({ enabled: true, mode: configAfter }))
        expect({ liveThreadMode: live.mode, newThreadMode: next.mode }).toEqual(wanted)
      } else {
        expect(statusRuntimeMode(first, configAfter)).toBe(wanted.mode)
      }
    })
  }
})

describe('assertions', () => {
  const Input = z.looseObject({
    seedHex: z.string().optional(),
    instanceId: z.string().optional(),
    instanceIdRepeat: z.tuple([z.string(), z.number()]).optional(),
    iat: z.number().default(0),
    uuid: z.string().default(''),
    value: z.string().optional(),
    event: z.string().optional(),
  })
  for (const one of runnable('assertion')) {
    const { seedHex, instanceId, instanceIdRepeat, iat, uuid, event } = Input.parse(one.input)
    const id = instanceIdRepeat === undefined ? instanceId : instanceIdRepeat[0].repeat(instanceIdRepeat[1])
    it(titleOf(one), async () => {
      const wanted = Record.parse(wantedOf(one))
      if (seedHex !== undefined && id !== undefined) {
        const issuer = firstPartyIssuer()
        const payload = issuer.payload(registration(id), { iat, id: uuid })
        const mint = () => mintAssertion(runtimeKeyFromSeed(Buffer.from(seedHex, 'hex')), payload)
        if (wanted.accepted === false) return expect(mint).toThrow(String(wanted.message))
        expect(factsOf(mint())).toMatchObject(withoutAccepted(wanted))
      } else if (seedHex !== undefined) {
        expect({ publicKey: runtimeKeyFromSeed(Buffer.from(seedHex, 'hex')).publicKey }).toEqual(wanted)
      } else if (event !== undefined) {
        expect({ reused: await isReusedFor(event) }).toEqual(wanted)
      } else if (wanted.payloadKeys !== undefined) {
        const { payload, value } = factsOf(await sentAssertion())
        expect(Object.keys(JSON.parse(payload))).toEqual(wanted.payloadKeys)
        expect(value.includes('=')).toBe(wanted.padding)
      } else {
        expect(await headerForms()).toEqual(wanted)
      }
    })
  }

  function factsOf(value: string) {
    const [, header = '', payload = ''] = value.split('.')
    const read = (part: string) => Buffer.from(part, 'base64url').toString()
    return {
      value,
      protected: read(header),
      payload: read(payload),
      valueBytes: Buffer.byteLength(value),
      valueSha256: createHash('sha256').update(value).digest('hex'),
    }
  }

  function withoutAccepted({ accepted: _, ...facts }: z.infer<typeof Record>) {
    return facts
  }

  async function sentAssertion(): Promise<string> {
    const world = await AuthWorld.open({ signedIn: { account: 'acct-1' } })
    await McpConnection.to(world.context('dual_header'), world.http).operate('initialize')
    return world.model.requests.at(-1)?.assertion ?? ''
  }

  /** What the same kind of request carries the second time. */
  async function isReusedFor(event: string): Promise<boolean> {
    const world = await AuthWorld.open({ signedIn: { account: 'acct-1' } })
    const context = world.context('dual_header')
    const auth = context.connect('mcp')
    const method = event === 'DELETE' ? 'DELETE' : event === 'SSE reconnect GET' ? 'GET' : 'POST'
    const ids: string[] = []
    for (const connection of [auth, event === 'session rebuild' ? context.connect('mcp') : auth]) {
      const authorization = await connection.authorize({ method, url: MCP_URL })
      if (authorization.kind === 'refused') throw authorization.error
      const value = authorization.headers.find(([name]) => name === 'x-openai-agent-assertion')?.[1] ?? ''
      ids.push(readAssertion(value).id)
    }
    return ids[0] === ids[1]
  }

  async function headerForms() {
    const forms: { [mode: string]: { [name: string]: string } } = {}
    for (const mode of ['dual_header', 'assertion_only'] as const) {
      const world = await AuthWorld.open({ signedIn: { account: 'acct-1' } })
      const authorization = await world.context(mode).connect('mcp').authorize({ method: 'POST', url: MCP_URL })
      if (authorization.kind === 'refused') throw authorization.error
      const shown = authorization.headers.map(([name, value]) => [
        name,
        value.replace(/^Bearer .*/, 'Bearer <token>').replace(/1\.\S+$/, '<value>'),
      ])
      forms[mode] = Object.fromEntries(shown.filter(([name]) => name !== 'chatgpt-account-id'))
    }
    return forms
  }

  function registration(instanceId: string) {
    return { instanceId, hostId: 'host-1', actor: { kind: 'chatgpt', userId: 'u', accountId: 'a' } } as const
  }
})

it('leaves only named cases to what is not here yet', () => {
  const names = vectorCases(FILE).map(({ name }) => name)
  for (const name of PENDING.keys()) expect(names).toContain(name)
  expect(PENDING.size).toBe(1)
  const kinds = new Set(vectorCases(FILE).map(({ input }) => input.kind))
  expect([...kinds].sort()).toEqual([
    'account',
    'assertion',
    'configMode',
    'configuredHeaders',
    'credentialChange',
    'eligibility',
    'fedramp',
    'headers',
    'redirects',
    'registrationFailure',
    'registrationReply',
    'registrationRequest',
    'uploads',
  ])
})
