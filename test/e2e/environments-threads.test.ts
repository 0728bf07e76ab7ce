import { beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { environmentHash } from '../../src/identity/index.js'
import type { Step, ThreadEvent } from '../../src/reeve.js'
import { eventually } from '../fixtures/stdio/running.js'
import { notes, ThreadWorld } from '../fixtures/threads/thread-world.js'
import { buildCli } from './built-cli.js'
import { executorProgram } from './executor-program.js'

beforeAll(buildCli, 300_000)

const OWNERS = ['boxa', 'boxb', 'local'] as const

it('has three servers called notes, in three places, each of which answers for itself', async () => {
  await using boxa = await executorProgram()
  await using boxb = await executorProgram()
  await using world = await ThreadWorld.open({
    urls: { boxa: boxa.url, boxb: boxb.url },
    plugins: OWNERS.map((environment) => ({
      id: `notes@${environment}`,
      environment,
      servers: { notes: notes('--as', environment) },
    })),
  })
  const told: ThreadEvent[] = []
  await using thread = await world.reeve.startThread({
    environments: world.select(...OWNERS),
    capabilityRoots: world.roots,
    onEvent: (event) => told.push(event),
  })
  const owners = (step: Step) => step.namespaces.map(({ key }) => key.environment)
  const environmentEvents = () => told.flatMap((event) => (event.type === 'environment' ? [event] : []))

  // Listed.
  const step = await thread.step({ wait: 'all' })
  expect(step.namespaces.map(({ name }) => name)).toEqual(OWNERS.map((id) => `mcp__${environmentHash(id)}__notes`))
  expect(step.namespaces.map(({ description }) => description)).toEqual(
    OWNERS.map((id) => `Runs in environment ${id}.`),
  )
  expect(step.tools[0]?.description).toMatch(/This tool is part of plugin `notes@boxa`\.$/)
  expect(thread.servers().map(({ key, status, pluginId }) => [key.environment, status, pluginId])).toEqual(
    OWNERS.map((id) => [id, 'connected', `notes@${id}`]),
  )

  // Called, and read.
  for (const environment of OWNERS) {
    expect(await caller(step, environment)).toBe(environment)
    const read = await step.callFunction('read_mcp_resource', {
      server: 'notes',
      environment_id: environment,
      uri: 'note://shared/one',
    })
    expect(JSON.parse(read.output)).toMatchObject({ environment_id: environment, contents: [{ text: environment }] })
  }
  const listed = await step.callFunction('list_mcp_resources', {})
  const { resources } = z
    .object({ resources: z.array(z.looseObject({ environment_id: z.string() })) })
    .parse(JSON.parse(listed.output))
  expect(resources.map((resource) => resource.environment_id)).toEqual(OWNERS.flatMap((id) => [id, id]))
  await expect(thread.callTool({ server: 'notes', tool: 'whoami' })).rejects.toMatchObject({
    code: 'ambiguous_server',
    data: { choices: [...OWNERS] },
  })

  // One is gone: it alone.
  await boxa.kill()
  await eventually(() =>
    expect(environmentEvents().at(-1)).toMatchObject({ environment: 'boxa', status: 'disconnected' }),
  )
  await eventually(() => expect(rowOf('boxa')).toBe('failed'))
  await expect(caller(step, 'boxa')).rejects.toMatchObject({ key: { name: 'notes', environment: 'boxa' } })
  const without = await thread.step()
  expect(owners(without)).toEqual(['boxb', 'local'])
  for (const environment of ['boxb', 'local']) expect(await caller(without, environment)).toBe(environment)

  // And back, without a reload.
  await boxa.restart()
  await eventually(() => expect(rowOf('boxa')).toBe('connected'))
  const again = await thread.step({ wait: 'all' })
  expect(owners(again)).toEqual([...OWNERS])
  for (const environment of OWNERS) expect(await caller(again, environment)).toBe(environment)
  expect(again.namespaces.map(({ name }) => name)).toEqual(step.namespaces.map(({ name }) => name))
  expect(environmentEvents().map(({ environment, status }) => `${environment} ${status}`)).toContain('boxa connected')

  function rowOf(environment: string) {
    return thread.servers().find(({ key }) => key.environment === environment)?.status
  }
}, 120_000)

/** What the server of an environment calls itself. */
async function caller(step: Step, environment: string): Promise<string> {
  const tool = step.tools.find(({ key, tool: raw }) => key.environment === environment && raw === 'whoami')
  if (tool === undefined) throw new Error(`nothing of ${environment} is offered`)
  const { content } = await step.call(tool)
  const [{ text }] = z.tuple([z.looseObject({ text: z.string() })]).parse(content)
  return z.looseObject({ as: z.string() }).parse(JSON.parse(text)).as
}
