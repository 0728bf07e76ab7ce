import { describe, expect, it } from 'vitest'
import type { FunctionOutput, Step, ThreadEvent } from '../../../src/reeve.js'
import { fixture } from '../../fixtures/stdio/running.js'
import { ThreadWorld } from '../../fixtures/threads/thread-world.js'

const place = (name: string) => ({ command: process.execPath, args: [fixture('place.mjs'), name] })
const toml = (name: string, at: string, more = '') =>
  `[mcp_servers.${name}]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify(place(at).args)}\n${more}\n`

/** `notes` in two environments and on the host, and one server of the host that runs in the second environment. */
function openWorld(features = {}): Promise<ThreadWorld> {
  return ThreadWorld.open({
    executors: ['enva', 'envb'],
    plugins: ['enva', 'envb'].map((environment) => ({
      id: `root-${environment}`,
      environment,
      servers: { notes: place(environment) },
    })),
    config: toml('shared', 'host') + toml('placed', 'placed', 'environment_id = "envb"\ncwd = "/"'),
    features,
  })
}

async function openStep(world: ThreadWorld, selected: readonly string[], events: ThreadEvent[] = []): Promise<Step> {
  const thread = await world.reeve.startThread({
    environments: world.select(...selected),
    capabilityRoots: world.roots,
    onEvent: (event) => events.push(event),
  })
  return thread.step({ wait: 'all' })
}

const HERE = { uri: 'place://here' }
const read = (step: Step, args: object): Promise<FunctionOutput> =>
  step.callFunction('read_mcp_resource', JSON.stringify({ ...HERE, ...args }))

describe('resource functions over two executors', () => {
  it('answer for each environment by itself, and for servers of the host by where they run', async () => {
    await using world = await openWorld()
    const step = await openStep(world, ['enva', 'envb'])
    const said = async (args: object) => JSON.parse((await read(step, args)).output)
    const contents = (from: string) => [{ uri: HERE.uri, mimeType: 'text/plain', text: `from ${from}` }]
    for (const id of ['enva', 'envb']) {
      expect(await said({ server: 'notes', environment_id: id })).toEqual({
        server: 'notes',
        environment_id: id,
        ...HERE,
        contents: contents(id),
      })
    }
    expect(await said({ server: 'shared' })).toEqual({ server: 'shared', ...HERE, contents: contents('host') })
    expect(await said({ server: 'placed', environment_id: 'envb' })).toEqual({
      server: 'placed',
      ...HERE,
      contents: contents('placed'),
    })
    expect((await read(step, { server: 'notes' })).error).toMatchObject({
      code: 'environment_id_required',
      data: { choices: ['enva', 'envb'] },
    })
    expect((await read(step, { server: 'shared', environment_id: 'enva' })).error?.code).toBe('unknown_server')
    expect((await step.callFunction('list_mcp_resources', {})).output).toBe(
      JSON.stringify({
        resources: [
          ['notes', 'enva', 'enva'],
          ['notes', 'envb', 'envb'],
          ['placed', undefined, 'placed'],
          ['shared', undefined, 'host'],
        ].map(([server, environment_id, from]) => ({
          server,
          environment_id,
          ...HERE,
          name: 'here',
          description: `from ${from}`,
        })),
      }),
    )
  })

  it('leave out what is gone with its executor, and say so where it is asked for', async () => {
    await using world = await openWorld()
    const events: ThreadEvent[] = []
    const step = await openStep(world, ['enva', 'envb'], events)
    await world.executors.get('envb')?.[Symbol.asyncDispose]()
    const [gone, { output, item }, other] = await Promise.all([
      read(step, { server: 'notes', environment_id: 'envb' }),
      step.callFunction('list_mcp_resources', ''),
      read(step, { server: 'notes', environment_id: 'enva' }),
    ])
    expect(gone).toMatchObject({
      output: expect.stringMatching(/^resources\/read failed: /),
      item: { server: 'notes', environment: 'envb', status: 'failed' },
    })
    expect(gone.error?.code).toMatch(/^environment_/)
    expect(JSON.parse(output).resources.map(({ server }: { server: string }) => server)).toEqual(['notes', 'shared'])
    expect(item).toEqual({ server: 'codex', environment: null, status: 'completed' })
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'warning', key: { name: 'notes', environment: 'envb' } }),
    )
    expect(JSON.parse(other.output)).toMatchObject({ environment_id: 'enva' })
  })

  it('name no environment with the feature off, and take the one server of a name', async () => {
    await using world = await openWorld({ multi_environment_mcp: false })
    const step = await openStep(world, ['enva', 'envb'])
    const { output, item } = await read(step, { server: 'notes', environment_id: 'envb' })
    expect(JSON.parse(output)).toEqual({
      server: 'notes',
      ...HERE,
      contents: [expect.objectContaining({ text: 'from enva' })],
    })
    expect(item).toEqual({ server: 'notes', environment: 'enva', status: 'completed' })
  })

  it('need no id with one environment selected', async () => {
    await using world = await openWorld()
    const step = await openStep(world, ['envb'])
    expect(JSON.parse((await read(step, { server: 'notes' })).output)).toMatchObject({ environment_id: 'envb' })
    expect((await read(step, { server: 'notes', environment_id: 'enva' })).error?.code).toBe('unknown_server')
  })
})
