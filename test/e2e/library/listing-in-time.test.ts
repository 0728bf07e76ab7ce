import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { ThreadEvent } from '../../../src/reeve.js'
import { cuttingProxy } from '../../fixtures/executor/cutting-proxy.js'
import { silentExecutor } from '../../fixtures/executor/silent-executor.js'
import { INITIALIZED, startServer } from '../../fixtures/http/server.js'
import { eventually } from '../../fixtures/stdio/running.js'
import { notes, notesToml, ThreadWorld } from '../../fixtures/threads/thread-world.js'

const BOX = { id: 'rootA', environment: 'enva', servers: { notes: notes('--as', 'a') } }
const IN_TIME = { withinMs: 1000 }

describe('a listing over all servers that has little time', () => {
  it('has what is there while an executor says nothing', async () => {
    await using mute = await silentExecutor()
    await using world = await ThreadWorld.open({ urls: { enva: mute.url }, plugins: [BOX], config: notesToml('mine') })
    await using thread = await world.reeve.startThread({ capabilityRoots: world.roots })
    const { client } = await thread.client({ server: 'mine' })
    expect(client.capabilities).toHaveProperty('resources')
    const { pages, failures, isWhole } = await thread.resources.listAll(IN_TIME)
    expect([pages.map(({ key }) => key.name), failures, isWhole]).toEqual([['mine'], [], false])
  })

  it('gives what a server listed last that does not answer, and says so', async () => {
    await using web = await startServer({
      initialize: ({ result }) => result({ ...INITIALIZED, capabilities: { resources: {} } }),
      'resources/list': ({ earlier, result }) => {
        if (earlier === 0) result({ resources: [{ uri: 'a:b', name: 'b' }] })
      },
    })
    await using world = await ThreadWorld.open({
      config: `[mcp_servers.web]\nurl = "${web.url}"\n${notesToml('mine')}`,
    })
    const events: ThreadEvent[] = []
    await using thread = await world.reeve.startThread({ onEvent: (event) => events.push(event) })
    await thread.client({ server: 'web' })
    await eventually(() =>
      expect(events).toContainEqual(
        expect.objectContaining({
          type: 'inventory_changed',
          what: 'resources',
          key: expect.objectContaining({ name: 'web' }),
        }),
      ),
    )
    const listed = await thread.resources.listAll(IN_TIME)
    expect(listed.pages.map(({ key, items }) => [key.name, items.length])).toEqual([
      ['mine', 2],
      ['web', 1],
    ])
    expect(listed.isWhole).toBe(false)
  })

  it('does not wait for an executor that is on its way back, and is whole once it is', async () => {
    await using world = await ThreadWorld.open({ executors: ['real'], plugins: [BOX], config: notesToml('mine') })
    const proxy = await cuttingProxy(world.executors.get('real')?.url ?? '')
    await using _ = proxy
    world.reeve.environments.add('enva', { kind: 'url', url: proxy.url })
    const events: ThreadEvent[] = []
    await using thread = await world.reeve.startThread({
      environments: world.select('enva'),
      capabilityRoots: world.roots,
      onEvent: (event) => events.push(event),
    })
    const step = await thread.step({ wait: 'all' })
    expect((await thread.resources.listAll(IN_TIME)).isWhole).toBe(true)
    proxy.let(false)
    proxy.cut()
    await eventually(() => expect(world.reeve.environments.get('enva')?.environment.state.is).toBe('recovering'))
    const { pages, isWhole } = await thread.resources.listAll(IN_TIME)
    expect([pages.map(({ key, items }) => [key.name, items.length]), isWhole]).toEqual([
      [
        ['mine', 2],
        ['notes', 2],
      ],
      false,
    ])
    const { output } = await step.callFunction('list_mcp_resources', {})
    const { resources } = z
      .object({ resources: z.array(z.looseObject({ server: z.string() })) })
      .parse(JSON.parse(output))
    expect(new Set(resources.map(({ server }) => server))).toEqual(new Set(['mine']))
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'warning', key: expect.objectContaining({ environment: 'enva' }) }),
    )
    proxy.let(true)
    await eventually(async () => expect((await thread.resources.listAll(IN_TIME)).isWhole).toBe(true))
  })
})
