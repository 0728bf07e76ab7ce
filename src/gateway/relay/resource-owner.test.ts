import { describe, expect, it } from 'vitest'
import { type ServerKey, sameKey, serverKey } from '../../identity/index.js'
import { LEGACY_FORM } from '../bridge/index.js'
import { MergedListing } from './listing.js'
import { type NamedResource, ownerOf } from './resource-owner.js'

const local = serverKey('notes')
const devbox = serverKey('notes', 'devbox')
const prod = serverKey('notes', 'prod')
const NOTE = 'note://groceries'

/** Three servers of one name that list the same resource. */
function owner(named: NamedResource, world: { keys?: readonly ServerKey[]; late?: boolean } = {}) {
  const { keys = [local, devbox, prod], late = false } = world
  let isUp = !late
  const all = keys.map((key) => ({
    key,
    status: 'connected' as const,
    required: false,
    transport: 'stdio' as const,
    executionEnvironment: key.environment ?? 'local',
    since: 0,
    cached: false,
    capabilities: { resources: {} },
  }))
  const there = () => (isUp ? keys : [])
  const pages = () => there().map((key) => ({ key, items: [{ uri: NOTE, name: 'Groceries' }] }))
  const listing = {
    list: async ({ server, environment = null }: { server: string; environment?: string | null }) => {
      const page = pages().find(({ key }) => sameKey(key, serverKey(server, environment)))
      if (page === undefined) throw new Error('not there')
      return page
    },
    listAll: async () => ({ pages: pages(), failures: [], isWhole: true }),
  }
  const present = ({ item }: { item: { uri?: unknown } }) => ({ name: String(item.uri), wire: {} })
  return ownerOf(
    named,
    {
      servers: () => (isUp ? all : []),
      environments: [{ id: 'local' }, { id: 'devbox' }, { id: 'prod' }],
      step: async () => {
        isUp = true
      },
      client: async () => undefined,
    },
    new MergedListing(listing, { member: 'resources', present }, LEGACY_FORM),
    {},
  )
}

describe('whose a URI is that three servers of one name list', () => {
  it.each([
    ['reeve://notes/note://groceries', local],
    ['reeve://notes@devbox/note://groceries', devbox],
    ['reeve://notes@prod/note://groceries', prod],
  ])('stands in %s', async (uri, key) => {
    expect(await owner({ uri })).toEqual({ key, uri: NOTE })
  })

  it('is never guessed', async () => {
    await expect(owner({ uri: NOTE })).rejects.toMatchObject({
      rpcCode: -32602,
      rpcData: {
        code: 'ambiguous_server',
        choices: [
          'reeve://notes@devbox/note://groceries',
          'reeve://notes@prod/note://groceries',
          'reeve://notes/note://groceries',
        ],
      },
    })
  })

  it.each([
    [null, local],
    ['local', local],
    ['devbox', devbox],
    ['prod', prod],
  ])('is told by the environment %s of the request', async (environment, key) => {
    expect(await owner({ uri: NOTE, environment })).toEqual({ key, uri: NOTE })
  })

  it('is found out of servers that come up only now', async () => {
    const late = { late: true }
    expect(await owner({ uri: 'reeve://notes@devbox/note://groceries' }, late)).toEqual({ key: devbox, uri: NOTE })
    expect(await owner({ uri: NOTE, environment: 'devbox' }, late)).toEqual({ key: devbox, uri: NOTE })
  })

  it('is told by an environment that only lists in templates', async () => {
    expect(await owner({ uri: 'note://unlisted', environment: 'prod' })).toEqual({ key: prod, uri: 'note://unlisted' })
  })

  it('is refused for an environment without such a server', async () => {
    await expect(owner({ uri: NOTE, environment: 'staging' })).rejects.toMatchObject({
      rpcData: { code: 'unknown_server' },
    })
  })

  it('is refused when URI and environment contradict each other', async () => {
    const uri = 'reeve://notes@devbox/note://groceries'
    expect(await owner({ uri, environment: 'devbox' })).toEqual({ key: devbox, uri: NOTE })
    await expect(owner({ uri, environment: 'prod' })).rejects.toMatchObject({
      rpcCode: -32602,
      rpcData: { code: 'unknown_server', environment_id: 'devbox' },
    })
    await expect(owner({ uri, environment: null })).rejects.toMatchObject({ rpcCode: -32602 })
  })
})
