import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/protocol/index.js'
import { openGateway, openHome, TOKEN } from './gateway/harness.js'
import { RawSession } from './gateway/raw-http.js'
import { RawModern } from './gateway/raw-modern.js'

const FULL = (era: string) => ({
  script: fileURLToPath(new URL(`../fixtures/full/server-${era}.mjs`, import.meta.url)),
  args: ['--stdio'],
})

/** Every URI in a value, at any depth. */
/** Servers come up beside the first requests. */
const STARTING = { timeout: 20_000 }

function urisIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) =>
    name === 'uri' && typeof member === 'string' ? [member] : urisIn(member),
  )
}

async function eachClient(
  url: string,
  use: (ask: (method: string, params?: JsonObject) => Promise<JsonObject>) => Promise<void>,
) {
  const modern = new RawModern(url, { token: TOKEN })
  const session = await RawSession.open(url, { token: TOKEN })
  await use((method, params) => modern.result(method, params))
  await use(async (method, params) => {
    const { result, error } = (await session.request(method, params)).messages().at(-1) ?? {}
    if (error !== undefined) throw Object.assign(new Error('refused'), error)
    return result as JsonObject
  })
  await session.end()
}

describe('methods of extensions that the gateway does not know', () => {
  it('reach the server of the resource that they name, and list what all servers have', async () => {
    await using home = await openHome(() => ({ old: FULL('2025'), new: FULL('2026'), plain: {} }))
    await using gateway = await openGateway(home.reeve)
    await eachClient(gateway.url, async (ask) => {
      await expect.poll(async () => urisIn(await ask('skills/list').catch(() => ({}))), STARTING).toHaveLength(6)
      const uris = urisIn(await ask('skills/list'))
      expect(uris.filter((uri) => uri.startsWith('reeve://new/skill://'))).toHaveLength(3)
      expect(uris.filter((uri) => uri.startsWith('reeve://old/skill://'))).toHaveLength(3)
      for (const uri of new Set(uris)) expect(urisIn(await ask('resources/read', { uri }))).toEqual([uri])
      for (const server of ['old', 'new']) {
        const directory = await ask('resources/directory/read', { uri: `reeve://${server}/skill://pdf-notes` })
        expect(urisIn(directory)).toEqual([
          `reeve://${server}/skill://pdf-notes/SKILL.md`,
          `reeve://${server}/skill://pdf-notes/references`,
        ])
      }
      const uri = 'reeve://new/skill://pdf-notes/SKILL.md'
      expect(await ask('skills/get', { uri })).toMatchObject({ skill: { uri, frontmatter: { name: 'pdf-notes' } } })
      await expect(ask('skills/frobnicate')).rejects.toMatchObject({
        code: -32601,
        message: expect.stringContaining('several'),
      })
      await expect(ask('com.example/list')).rejects.toMatchObject({ code: -32601 })
    })
  })

  it('reach the only server that has extensions, and none without one', async () => {
    await using home = await openHome(() => ({ new: FULL('2026'), plain: {} }))
    await using gateway = await openGateway(home.reeve)
    await eachClient(gateway.url, async (ask) => {
      await expect.poll(async () => urisIn(await ask('skills/list').catch(() => ({}))), STARTING).toHaveLength(3)
      await expect(ask('skills/get', { uri: 'reeve://plain/skill://x' })).rejects.toMatchObject({ code: -32601 })
    })
    await using bare = await openHome(() => ({ plain: {} }))
    await using nothing = await openGateway(bare.reeve)
    await eachClient(nothing.url, async (ask) => {
      await expect(ask('skills/list')).rejects.toMatchObject({ code: -32601 })
    })
  })
})

it('joins the extensions of all servers in what the gateway declares', async () => {
  await using home = await openHome(() => ({ old: FULL('2025'), plain: {} }))
  await using gateway = await openGateway(home.reeve)
  const modern = new RawModern(gateway.url, { token: TOKEN })
  const discovered = async () => (await modern.result('server/discover')).capabilities
  await expect.poll(discovered, STARTING).toMatchObject({
    extensions: {
      'com.example/unheard-of': { setting: 'kept' },
      'io.modelcontextprotocol/skills': { directoryRead: true },
      'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] },
      'io.modelcontextprotocol/tasks': {},
    },
  })
  const capabilities = await discovered()
  expect(capabilities).not.toHaveProperty('com.example/unknown')
  expect(capabilities).not.toHaveProperty('tasks')
})
