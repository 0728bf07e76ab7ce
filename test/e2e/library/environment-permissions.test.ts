import { expect, it } from 'vitest'
import type { ThreadEvent } from '../../../src/reeve.js'
import { notes, ThreadWorld } from '../../fixtures/threads/thread-world.js'

const RESTRICTED = {
  type: 'managed',
  file_system: {
    type: 'restricted',
    entries: [{ path: { type: 'special', value: { kind: 'minimal' } }, access: 'read' }],
  },
  network: 'restricted',
}

it('looks for no plugins under a profile that nobody there can hold to, and does once another one governs', async () => {
  await using world = await ThreadWorld.open({
    executors: ['enva', 'envb'],
    plugins: ['enva', 'envb', 'local'].map((id) => ({ id: `r-${id}`, environment: id, servers: { notes: notes() } })),
  })
  const events: ThreadEvent[] = []
  const [enva, envb, local] = ['enva', 'envb', 'local'].map((id) => ({ id, cwd: world.folder }))
  if (enva === undefined || envb === undefined || local === undefined) throw new Error('three environments')
  await using thread = await world.reeve.startThread({
    environments: [
      { ...enva, permissions: { type: 'disabled' } },
      { ...envb, permissions: RESTRICTED },
      { ...local, permissions: RESTRICTED },
    ],
    capabilityRoots: world.roots,
    onEvent: (event) => events.push(event),
  })
  const owners = async () => (await thread.step({ wait: 'all' })).namespaces.map(({ key }) => key.environment)
  expect(await owners()).toEqual(['enva'])
  const told = events.flatMap((event) => (event.type === 'problem' ? [event.problem] : []))
  expect(told).toHaveLength(2)
  expect(told).toMatchObject([{ code: 'sandbox_unavailable' }, { code: 'sandbox_unavailable' }])

  // One without a profile of its own has that of the host.
  await thread.select([enva, envb, { ...local, permissions: RESTRICTED }])
  expect(await owners()).toEqual([])
  await thread.select([enva, { ...envb, permissions: RESTRICTED }, local])
  expect(await owners()).toEqual(['enva', 'local'])
})
