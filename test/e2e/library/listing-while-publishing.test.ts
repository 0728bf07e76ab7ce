import { expect, it } from 'vitest'
import { z } from 'zod'
import type { Thread, ThreadEvent } from '../../../src/reeve.js'
import { INITIALIZED, startServer } from '../../fixtures/http/server.js'
import { notes, notesToml, ThreadWorld } from '../../fixtures/threads/thread-world.js'

const ROUNDS = 5
const IDS = ['enva', 'envb'] as const

/** A server behind HTTP and one that is a process, and environments that come and go around them. */
async function openWorld() {
  const hosted = await startServer(
    {
      initialize: ({ result }) => result({ ...INITIALIZED, capabilities: { resources: {}, tools: {} } }),
      'tools/list': ({ result }) => result({ tools: [] }),
      'resources/list': ({ result }) => result({ resources: [{ uri: 'a:b', name: 'b' }] }),
      'resources/templates/list': ({ result }) => result({ resourceTemplates: [] }),
    },
    { session: 's1' },
  )
  const world = await ThreadWorld.open({
    executors: IDS,
    plugins: IDS.map((environment) => ({ id: `r-${environment}`, environment, servers: { notes: notes() } })),
    config: `[mcp_servers.hosted]\nurl = "${hosted.url}"\n${notesToml('started')}`,
  })
  return {
    world,
    [Symbol.asyncDispose]: async () => {
      await world[Symbol.asyncDispose]()
      await hosted.close()
    },
  }
}

/** The servers that each kind of listing over all of them has. */
async function listings(thread: Thread): Promise<readonly (readonly string[])[]> {
  const step = await thread.step({ wait: 'all' })
  const [listed, { output }] = await Promise.all([
    thread.resources.listAll(),
    step.callFunction('list_mcp_resources', {}),
  ])
  const { resources } = z
    .object({ resources: z.array(z.looseObject({ server: z.string() })) })
    .parse(JSON.parse(output))
  return [listed.pages.map(({ key }) => key.name), resources.map(({ server }) => server)]
}

it('has every server that is up, whatever is published meanwhile', async () => {
  await using opened = await openWorld()
  const { world } = opened
  for (let round = 0; round < ROUNDS; round += 1) {
    const events: ThreadEvent[] = []
    await using thread = await world.reeve.startThread({
      environments: world.select(...IDS),
      capabilityRoots: world.roots,
      onEvent: (event) => events.push(event),
    })
    const looking = Array.from({ length: 4 }, () => listings(thread))
    await thread.select(world.select('enva'))
    looking.push(listings(thread))
    await thread.select(world.select('envb', 'enva'))
    looking.push(listings(thread))
    await world.reeve.reload()
    looking.push(listings(thread))
    for (const names of (await Promise.all(looking)).flat()) {
      const warnings = events.filter(({ type }) => type === 'warning')
      expect(names, JSON.stringify(warnings)).toEqual(expect.arrayContaining(['hosted', 'started']))
    }
  }
}, 600_000)
