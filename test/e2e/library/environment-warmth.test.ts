import { describe, expect, it } from 'vitest'
import type { ThreadEvent } from '../../../src/reeve.js'
import { eventually } from '../../fixtures/stdio/running.js'
import { notesToml, ThreadWorld } from '../../fixtures/threads/thread-world.js'

const stateOf = (world: ThreadWorld, id: string) => world.reeve.environments.get(id)?.environment.state.is

describe('the environments of a thread', () => {
  it.each([true, false])('are connected to while it selects them, with the feature %s', async (feature) => {
    await using world = await ThreadWorld.open({
      executors: ['enva', 'envb', 'envc'],
      features: { multi_environment_mcp: feature },
    })
    const events: ThreadEvent[] = []
    await using thread = await world.reeve.startThread({
      environments: world.select('enva'),
      onEvent: (event) => events.push(event),
    })
    await eventually(() => expect(stateOf(world, 'enva')).toBe('ready'))
    expect(stateOf(world, 'envb')).toBe('idle')
    await thread.select(world.select('enva', 'envb'))
    await eventually(() => expect(stateOf(world, 'envb')).toBe('ready'))
    expect(stateOf(world, 'envc')).toBe('idle')
    expect(events).toMatchObject(
      ['enva', 'envb'].map((environment) => ({ type: 'environment', environment, status: 'connected' })),
    )
  })

  it('hold up nothing when they are not there, which is told', async () => {
    await using world = await ThreadWorld.open({ urls: { down: 'ws://127.0.0.1:9' }, config: notesToml('mine') })
    const events: ThreadEvent[] = []
    await using thread = await world.reeve.startThread({
      environments: world.select('down'),
      onEvent: (event) => events.push(event),
    })
    await expect(thread.callTool({ server: 'mine', tool: 'whoami' })).resolves.toHaveProperty('content')
    await eventually(() =>
      expect(events).toContainEqual(
        expect.objectContaining({ type: 'environment', environment: 'down', status: 'disconnected' }),
      ),
    )
  })

  it('are left alone by a thread of a single request that needs none of them', async () => {
    await using world = await ThreadWorld.open({
      executors: ['enva'],
      config: notesToml('mine'),
      features: { multi_environment_mcp: false },
    })
    await using thread = await world.reeve.startThread({ environments: world.select('enva'), warm: false })
    await thread.step({ wait: 'all' })
    expect(stateOf(world, 'enva')).toBe('idle')
  })
})
