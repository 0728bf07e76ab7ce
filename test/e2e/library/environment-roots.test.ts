import { expect, it } from 'vitest'
import type { ThreadEvent } from '../../../src/reeve.js'
import { notes, ThreadWorld } from '../../fixtures/threads/thread-world.js'

const ROOT = { id: 'rootA', environment: 'enva', servers: { notes: notes('--as', 'a') } }

function rootToml(id: string, environment: string, path: string): string {
  return `[[capability_roots]]\nid = "${id}"\nenvironment = "${environment}"\npath = "${path}"`
}

it('takes no more of the roots that are configured for an environment than it may have, and all of the thread', async () => {
  const configured = Array.from({ length: 257 }, (_, index) => rootToml(`r${index}`, 'enva', `/nowhere/${index}`))
  await using world = await ThreadWorld.open({
    executors: ['enva', 'envb'],
    plugins: [ROOT],
    config: [...configured, rootToml('other', 'envb', '/nowhere')].join('\n'),
  })
  const events: ThreadEvent[] = []
  await using thread = await world.reeve.startThread({
    capabilityRoots: world.roots,
    onEvent: (event) => events.push(event),
  })
  const { namespaces } = await thread.step({ wait: 'all' })
  expect(namespaces.map(({ key }) => key)).toMatchObject([{ name: 'notes', environment: 'enva' }])
  expect(events.flatMap((event) => (event.type === 'problem' ? [event.problem] : []))).toMatchObject([
    { code: 'root_report_refused', message: expect.stringContaining("'enva' are not used: there are 257") },
    { code: 'root_unreadable', environment: 'envb' },
  ])
})
