import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { WebSocketServer } from 'ws'
import { z } from 'zod'
import type { Step, Thread, ThreadEvent, ThreadOptions } from '../../../src/reeve.js'
import { eventually, isRunning } from '../../fixtures/stdio/running.js'
import { notes, notesToml, ThreadWorld, type WorldPlugin } from '../../fixtures/threads/thread-world.js'

const ROOT: WorldPlugin = { id: 'rootA', environment: 'enva', servers: { notes: notes('--as', 'a') } }
const OTHER: WorldPlugin = { id: 'rootB', environment: 'envb', servers: { notes: notes('--as', 'b') } }

const Said = z.looseObject({ as: z.string(), pid: z.number() })

async function said(thread: Thread, server: string, environment?: string | null) {
  const { content } = await thread.callTool({
    server,
    tool: 'whoami',
    ...(environment !== undefined && { environment }),
  })
  const [{ text }] = z.tuple([z.looseObject({ text: z.string() })]).parse(content)
  return Said.parse(JSON.parse(text))
}

/** Takes WebSocket connections and answers nothing on them. */
async function silentExecutor() {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    url: `ws://127.0.0.1:${address.port}`,
    [Symbol.asyncDispose]: async () => {
      for (const client of server.clients) client.terminate()
      server.close()
      await once(server, 'close')
    },
  }
}

const keysOf = (thread: Thread) => thread.servers().map(({ key }) => `${key.name}@${key.environment}`)
const namesOf = (step: Step) => step.namespaces.map(({ name }) => name)
const problems = (events: readonly ThreadEvent[]) =>
  events.flatMap((event) => (event.type === 'problem' ? [event.problem] : []))

describe('servers of environments', () => {
  it('are listed before the first step, and started by the first call', async () => {
    await using world = await ThreadWorld.open({ executors: ['enva'], plugins: [ROOT] })
    await using thread = await world.reeve.startThread({ capabilityRoots: world.roots })
    await eventually(() => expect(keysOf(thread)).toEqual(['notes@enva']))
    expect(thread.servers()).toMatchObject([{ status: 'not_started', pluginId: 'rootA', executionEnvironment: 'enva' }])
    expect(await said(thread, 'notes')).toMatchObject({ as: 'a' })
    expect(thread.servers()).toMatchObject([{ status: 'connected' }])
  })

  it('are found by a call that comes at once, by a listing too', async () => {
    await using world = await ThreadWorld.open({ executors: ['enva'], plugins: [ROOT] })
    await using calling = await world.reeve.startThread({ capabilityRoots: world.roots })
    expect(await said(calling, 'notes', 'enva')).toMatchObject({ as: 'a' })
    await using listing = await world.reeve.startThread({ capabilityRoots: world.roots, graceMs: 0 })
    const { pages } = await listing.resources.listAll()
    expect(pages.map(({ key }) => key.environment)).toEqual(['enva'])
    await using only = await world.reeve.startThread({
      capabilityRoots: world.roots,
      only: [{ server: 'notes', environment: 'enva' }],
    })
    expect(namesOf(await only.step({ wait: 'all' }))).toEqual(['mcp__4398a80ccd8f__notes'])
    await expect(
      world.reeve.startThread({ capabilityRoots: world.roots, only: [{ server: 'other', environment: 'enva' }] }),
    ).rejects.toThrow("unknown MCP server 'other (environment enva)'")
  })

  it('are not looked for by a thread that is meant for others', async () => {
    await using world = await ThreadWorld.open({
      executors: ['enva', 'envb'],
      plugins: [ROOT, OTHER],
      config: notesToml('mine', ['--as', 'mine']),
    })
    const start = (only: ThreadOptions['only']) =>
      world.reeve.startThread({ capabilityRoots: world.roots, ...(only && { only }) })
    const states = () => ['enva', 'envb'].map((id) => world.reeve.environments.get(id)?.environment.state.is)
    await using mine = await start([{ server: 'mine' }])
    expect(await said(mine, 'mine')).toMatchObject({ as: 'mine' })
    await mine.step({ wait: 'all' })
    expect(states()).toEqual(['idle', 'idle'])
    await using a = await start([{ server: 'notes', environment: 'enva' }])
    expect(await said(a, 'notes')).toMatchObject({ as: 'a' })
    expect(states()).toEqual(['ready', 'idle'])
  })

  it('belong to the thread that selected them', async () => {
    await using world = await ThreadWorld.open({ executors: ['enva', 'envb'], plugins: [ROOT, OTHER] })
    await using a = await world.reeve.startThread({ capabilityRoots: world.roots.slice(0, 1) })
    await using b = await world.reeve.startThread({ capabilityRoots: world.roots.slice(1) })
    expect(namesOf(await a.step({ wait: 'all' }))).toEqual(['mcp__4398a80ccd8f__notes'])
    expect(namesOf(await b.step({ wait: 'all' }))).toEqual(['mcp__abf218f60ef8__notes'])
    await using neither = await world.reeve.startThread({ environments: [], capabilityRoots: world.roots })
    expect(namesOf(await neither.step({ wait: 'all' }))).toEqual([])
  })

  it('stand beside a thread-wide server of their name, disabled or not', async () => {
    await using world = await ThreadWorld.open({
      executors: ['enva'],
      plugins: [ROOT],
      config: notesToml('notes', ['--as', 'shared']),
    })
    await using thread = await world.reeve.startThread({ capabilityRoots: world.roots })
    const step = await thread.step({ wait: 'all' })
    expect(namesOf(step)).toEqual(['mcp__4398a80ccd8f__notes', 'mcp__notes'])
    expect([(await said(thread, 'notes')).as, (await said(thread, 'notes', 'enva')).as]).toEqual(['shared', 'a'])
    expect((await said(thread, 'notes', 'local')).as).toBe('shared')
    await using reference = await world.reeve.startThread({ capabilityRoots: world.roots, compatibility: true })
    expect(namesOf(await reference.step({ wait: 'all' }))).toEqual(['mcp__notes'])
    expect(reference.servers()).toMatchObject([
      { key: { environment: null }, status: 'connected' },
      { key: { environment: 'enva' }, status: 'disabled', hiddenBy: { name: 'notes', environment: null } },
    ])
  })

  it('are one a name, without a scope in any text, where the feature is off', async () => {
    await using world = await ThreadWorld.open({
      executors: ['enva', 'envb'],
      plugins: [ROOT, OTHER],
      features: { multi_environment_mcp: false },
    })
    const events: ThreadEvent[] = []
    await using thread = await world.reeve.startThread({
      capabilityRoots: world.roots,
      onEvent: (event) => events.push(event),
    })
    const step = await thread.step({ wait: 'all' })
    expect(step.namespaces.map(({ name, description }) => [name, description])).toEqual([
      ['mcp__notes', 'Tools in the mcp__notes namespace.'],
    ])
    expect(thread.servers().map(({ key }) => key.environment)).toEqual(['enva'])
    expect(problems(events)).toMatchObject([{ code: 'dropped_same_name', key: { environment: 'envb' } }])
    const { output } = await step.callFunction('list_mcp_resources', {})
    expect(output).not.toContain('environment_id')
  })

  it('keep their processes while their environment stays selected, and end with it', async () => {
    await using world = await ThreadWorld.open({ executors: ['enva', 'envb'], plugins: [ROOT, OTHER] })
    await using thread = await world.reeve.startThread({ capabilityRoots: world.roots })
    const [a, b] = [await said(thread, 'notes', 'enva'), await said(thread, 'notes', 'envb')]
    await thread.select(world.select('enva'))
    expect(thread.environments.map(({ id }) => id)).toEqual(['enva'])
    await eventually(() => expect(isRunning(b.pid)).toBe(false))
    expect((await said(thread, 'notes')).pid).toBe(a.pid)
    await thread.select(world.select('envb', 'enva'))
    expect((await said(thread, 'notes', 'envb')).pid).not.toBe(b.pid)
    expect((await said(thread, 'notes', 'enva')).pid).toBe(a.pid)
    await expect(thread.select([{ id: 'enva' }, { id: 'enva' }])).rejects.toMatchObject({
      code: 'duplicate_environment',
    })
    expect(thread.environments.map(({ id }) => id)).toEqual(['envb', 'enva'])
  })

  it('are new ones after their environment was left, also while a call to the old one is out', async () => {
    const servers = { notes: notes('--as', 'a', '--record', '../../frames') }
    await using world = await ThreadWorld.open({ executors: ['enva'], plugins: [{ ...ROOT, servers }] })
    await using thread = await world.reeve.startThread({ capabilityRoots: world.roots })
    const { pid } = await said(thread, 'notes')
    const abort = new AbortController()
    const hanging = thread.callTool({ server: 'notes', tool: 'hang' }, { signal: abort.signal })
    hanging.catch(() => {})
    await eventually(() => expect(world.received('frames').at(-1)?.params).toMatchObject({ name: 'hang' }))
    await thread.select([])
    await thread.select(world.select('enva'))
    expect((await said(thread, 'notes')).pid).not.toBe(pid)
    expect(isRunning(pid)).toBe(true)
    abort.abort()
    await eventually(() => expect(isRunning(pid)).toBe(false))
  })

  it('are those of an environment that the program adds, and of the one that it puts in its place', async () => {
    const plugin = (environment: string, as: string): WorldPlugin => ({
      id: as,
      environment,
      servers: { notes: notes('--as', as) },
    })
    await using world = await ThreadWorld.open({
      executors: ['enva', 'envb'],
      plugins: [plugin('added', 'first')],
      features: { multi_environment_mcp: true },
    })
    const urlOf = (id: string) => world.executors.get(id)?.url ?? ''
    await using thread = await world.reeve.startThread({ environments: [], capabilityRoots: world.roots })
    await expect(thread.select(world.select('added'))).rejects.toMatchObject({ code: 'unknown_environment' })
    world.reeve.environments.add('added', { kind: 'url', url: urlOf('enva') })
    await thread.select(world.select('added'))
    const { pid } = await said(thread, 'notes', 'added')
    world.reeve.environments.add('added', { kind: 'url', url: urlOf('envb') })
    await thread.step({ wait: 'all' })
    expect((await said(thread, 'notes', 'added')).pid).not.toBe(pid)
    await eventually(() => expect(isRunning(pid)).toBe(false))
  })

  it('are read anew by a reload, and those that are the same run on', async () => {
    await using world = await ThreadWorld.open({ executors: ['enva'], plugins: [ROOT] })
    await using thread = await world.reeve.startThread({ capabilityRoots: world.roots })
    const { pid } = await said(thread, 'notes')
    world.rewrite('rootA', { ...ROOT.servers, more: notes('--as', 'more') })
    expect(namesOf(await thread.step({ wait: 'all' }))).toHaveLength(1)
    await world.reeve.reload()
    expect(namesOf(await thread.step({ wait: 'all' }))).toEqual(['mcp__4398a80ccd8f__more', 'mcp__4398a80ccd8f__notes'])
    expect((await said(thread, 'notes')).pid).toBe(pid)
  })
})

describe('what is wrong with an environment', () => {
  it('is told once, stops nothing else, and is looked at again', async () => {
    await using world = await ThreadWorld.open({
      executors: ['enva', 'envb'],
      urls: { down: 'ws://127.0.0.1:9' },
      plugins: [ROOT, OTHER, { id: 'rootD', environment: 'down', servers: { notes: notes() } }],
    })
    const folder = world.roots.find(({ id }) => id === 'rootB')?.path ?? ''
    rmSync(folder, { recursive: true })
    const events: ThreadEvent[] = []
    await using thread = await world.reeve.startThread({
      capabilityRoots: world.roots,
      onEvent: (event) => events.push(event),
    })
    for (let step = 0; step < 2; step += 1)
      expect(namesOf(await thread.step({ wait: 'all' }))).toEqual(['mcp__4398a80ccd8f__notes'])
    const told = problems(events).map((problem) => ('environment' in problem ? problem.environment : problem.key))
    expect([...told].sort()).toEqual(['down', 'envb'])
    await expect(said(thread, 'notes', 'down')).rejects.toMatchObject({ code: 'environment_unreachable' })
    world.rewrite('rootB', OTHER.servers)
    // A look that was under way may have seen it as it was before.
    await expect.poll(async () => namesOf(await thread.step({ wait: 'all' }))).toHaveLength(2)
  })

  it('includes that a thread-wide server runs where the thread does not work: it is not callable', async () => {
    await using world = await ThreadWorld.open({
      executors: ['enva'],
      config:
        notesToml('placed', ['--as', 'placed'], 'environment_id = "enva"\ncwd = "/"') +
        notesToml('lost', [], 'environment_id = "nowhere"'),
    })
    await using here = await world.reeve.startThread({ environments: world.select('enva') })
    expect(await said(here, 'placed', 'enva')).toMatchObject({ as: 'placed' })
    const events: ThreadEvent[] = []
    await using elsewhere = await world.reeve.startThread({
      environments: world.select('local'),
      onEvent: (event) => events.push(event),
    })
    await elsewhere.step({ wait: 'all' })
    await expect(said(elsewhere, 'placed')).rejects.toMatchObject({ code: 'server_disabled' })
    expect(problems(events).map(({ message }) => message)).toEqual([
      "MCP server 'lost' can't be used: its environment nowhere is not configured",
      "MCP server 'placed' can't be used: its environment enva is not selected in this thread",
    ])
  })

  it('delays nothing of the others, also where an executor takes connections and says nothing', async () => {
    await using silent = await silentExecutor()
    await using world = await ThreadWorld.open({
      executors: ['enva'],
      urls: { silent: silent.url },
      plugins: [ROOT, { id: 'rootS', environment: 'silent', servers: { notes: notes() } }],
    })
    const thread = await world.reeve.startThread({ capabilityRoots: world.roots })
    let isTaken = false
    const step = thread.step().then(
      () => {
        isTaken = true
      },
      (error: unknown) => error,
    )
    expect(await said(thread, 'notes', 'enva')).toMatchObject({ as: 'a' })
    // What is known now is to be had at once.
    const now = await thread.step({ wait: 'none' })
    expect(namesOf(now)).toEqual(['mcp__4398a80ccd8f__notes'])
    expect(isTaken).toBe(false)
    await thread.close()
    expect(await step).toMatchObject({ code: 'closed' })
  })
})

describe('the authority of a tool', () => {
  it('is nobody’s where the thread did not select the environment: it is neither offered nor called', async () => {
    await using world = await ThreadWorld.open({
      executors: ['enva'],
      config: notesToml('placed', [], 'environment_id = "enva"\ncwd = "/"') + notesToml('shared'),
    })
    world.write(
      'environments.toml',
      `default = "enva"\n[[environments]]\nid = "enva"\nurl = "${world.executors.get('enva')?.url}"\n`,
    )
    await world.reopen({ features: { multi_environment_mcp: true } })
    await using thread = await world.reeve.startThread({ environments: world.select('local') })
    expect(namesOf(await thread.step({ wait: 'all' }))).toEqual(['mcp__shared'])
    expect(thread.servers()).toMatchObject([{ key: { name: 'placed' }, status: 'connected' }, { status: 'connected' }])
    await expect(said(thread, 'placed')).rejects.toMatchObject({ code: 'no_permission_profile' })
  })

  it('is the profile of the environment that has it', async () => {
    await using world = await ThreadWorld.open({
      executors: ['enva', 'envb'],
      plugins: [ROOT, OTHER],
      config: notesToml('shared'),
    })
    const [open, closed] = [{ type: 'disabled' }, { type: 'external', network: 'restricted' }]
    await using thread = await world.reeve.startThread({
      environments: [
        { id: 'local', cwd: world.folder, permissions: open },
        { id: 'enva', cwd: world.folder, permissions: closed },
        { id: 'envb', cwd: world.folder },
      ],
      capabilityRoots: world.roots,
    })
    const { tools } = await thread.step({ wait: 'all' })
    const authorityOf = (environment: string | null) =>
      tools.find(({ key }) => key.environment === environment)?.authority
    expect(authorityOf('enva')).toEqual({ kind: 'environment', environment: 'enva', profile: closed })
    expect(authorityOf('envb')).toEqual({ kind: 'environment', environment: 'envb', profile: open })
    expect(authorityOf(null)).toEqual({ kind: 'environment', environment: 'local', profile: open })
  })
})

describe('a thread that is kept', () => {
  const options = (world: ThreadWorld): ThreadOptions => ({
    environments: [
      { id: 'envb', cwd: '/srv', workspaceRoots: ['/srv', '/data'], permissions: { type: 'disabled' } },
      { id: 'local', cwd: world.folder },
      { id: 'enva', cwd: world.folder },
    ],
    capabilityRoots: world.roots,
    persist: true,
  })

  it('is taken up again with its environments in order, its roots and its names', async () => {
    await using world = await ThreadWorld.open({ executors: ['enva', 'envb'], plugins: [ROOT, OTHER] })
    const thread = await world.reeve.startThread(options(world))
    const { id, environments } = thread
    const names = namesOf(await thread.step({ wait: 'all' }))
    await expect(world.reeve.resumeThread(id)).rejects.toMatchObject({ code: 'thread_in_use' })
    const reeve = await world.reopen({ features: { multi_environment_mcp: true } })
    await using resumed = await reeve.resumeThread(id)
    expect(resumed.id).toBe(id)
    expect(resumed.environments).toEqual(environments)
    expect(namesOf(await resumed.step({ wait: 'all' }))).toEqual(names)
    await resumed.select(world.select('enva'))
    await using forked = await reeve.startThread({ from: id })
    expect(forked.id).not.toBe(id)
    expect(forked.environments.map((one) => one.id)).toEqual(['enva'])
    await forked.close()
    await using again = await reeve.resumeThread(forked.id, { environments: [] })
    expect(again.environments).toEqual([])
  })

  it('starts without an environment that is gone, and says so', async () => {
    await using world = await ThreadWorld.open({ executors: ['enva', 'envb'], plugins: [ROOT, OTHER] })
    const { id } = await world.reeve.startThread(options(world))
    world.write('environments.toml', '')
    const reeve = await world.reopen({ features: { multi_environment_mcp: true } })
    const events: ThreadEvent[] = []
    await using resumed = await reeve.resumeThread(id, { onEvent: (event) => events.push(event) })
    expect(resumed.environments.map((one) => one.id)).toEqual(['envb', 'local', 'enva'])
    expect(namesOf(await resumed.step({ wait: 'all' }))).toEqual([])
    expect(problems(events)).toMatchObject([
      { code: 'environment_unavailable', environment: 'envb', message: 'unknown environment id `envb`' },
      { code: 'environment_unavailable', environment: 'enva' },
    ])
  })

  it('is known only if it asked to be', async () => {
    await using world = await ThreadWorld.open()
    const { id } = await world.reeve.startThread()
    for (const unknown of [id, '', '__proto__', "x' OR 1=1"]) {
      await expect(world.reeve.resumeThread(unknown)).rejects.toMatchObject({
        code: id === unknown ? 'thread_in_use' : 'unknown_thread',
      })
      await expect(world.reeve.startThread({ from: unknown })).rejects.toMatchObject({ code: 'unknown_thread' })
    }
  })
})

it('ends every server with its runtime, in whatever place', async () => {
  await using world = await ThreadWorld.open({ executors: ['enva'], plugins: [ROOT], config: notesToml('shared') })
  const thread = await world.reeve.startThread({ capabilityRoots: world.roots })
  const pids = [(await said(thread, 'notes')).pid, (await said(thread, 'shared')).pid]
  expect(pids.map(isRunning)).toEqual([true, true])
  await world.reeve.close()
  for (const pid of pids) await eventually(() => expect(isRunning(pid)).toBe(false))
  // The executor is somebody else's, and stays.
  const reeve = await world.reopen({ features: { multi_environment_mcp: true } })
  await using again = await reeve.startThread({ capabilityRoots: world.roots })
  expect(await said(again, 'notes')).toMatchObject({ as: 'a' })
})
