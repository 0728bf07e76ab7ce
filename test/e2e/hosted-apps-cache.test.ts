import { mkdir, readdir, readFile, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Reeve, type ReeveOptions, sessionOf, type Thread } from '../../src/reeve.js'
import { APPS, appsRequests, appTool, NO_ANSWER, offerApps } from '../standins/backend-apps.js'
import { type BackendRuntime, MODE_LINES, startBackendRuntime } from '../standins/backend-runtime.js'

const ON = { features: { apps: true } } as const
const calendar = (tool: string) => appTool(tool, { connector_id: 'c1', connector_name: 'Calendar' })

/** The same home, in a process that begins later. */
function later(world: BackendRuntime, more: Partial<ReeveOptions> = {}): Promise<Reeve> {
  return Reeve.open({
    home: world.home,
    env: world.env,
    cwd: world.home,
    configFiles: [join(world.home, 'config.toml')],
    credentials: { from: 'home' },
    firstParty: { route: world.backend.route },
    ...ON,
    ...more,
  })
}

/** A runtime that has listed its apps once and is gone, whose server does not answer any more. */
async function startCached(mode: keyof typeof MODE_LINES = 'off') {
  const world = await startBackendRuntime({ mode, ...ON })
  offerApps(world.backend.model, () => [calendar('calendar_create')])
  const thread = await world.thread()
  await thread.step()
  await world.reeve.close()
  offerApps(world.backend.model, () => NO_ANSWER)
  return world
}

function startThread(reeve: Reeve): Promise<Thread> {
  return reeve.startThread({ ...(reeve.auth && { auth: reeve.auth }) })
}

function appTools({ tools }: Awaited<ReturnType<Thread['step']>>): readonly string[] {
  return tools.filter(({ key }) => key.name === 'codex_apps').map(({ tool }) => tool)
}

function files(world: BackendRuntime, folder = 'codex_apps_tools'): Promise<string[]> {
  return readdir(join(world.home, 'cache', folder))
}

describe('a server of hosted apps that does not answer', () => {
  it('is stood in for by what was kept, and its name tells nothing', async () => {
    await using world = await startCached()
    await using reeve = await later(world)
    const thread = await startThread(reeve)
    expect(appTools(await thread.step())).toEqual(['calendar_create'])
    expect(await thread.apps.list()).toMatchObject([{ id: 'c1', name: 'Calendar', tools: ['calendar_create'] }])
    for (const folder of ['codex_apps_tools', 'codex_apps_server_info'])
      expect(await files(world, folder)).toEqual([expect.stringMatching(/^[0-9a-f]{64}\.json$/)])
  })

  it('has nothing kept for another mode, whose step is without it', async () => {
    await using world = await startCached('off')
    const file = join(world.home, 'config.toml')
    await writeFile(file, `${MODE_LINES.dual_header}\n${await readFile(file, 'utf8')}`)
    await using reeve = await later(world)
    const thread = await startThread(reeve)
    expect(appTools(await thread.step({ wait: 'none' }))).toEqual([])
    await expect(thread.apps.list({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'cancelled' })
  })

  it('has nothing kept for another account', async () => {
    await using world = await startCached()
    await using reeve = await later(world)
    const thread = await startThread(reeve)
    expect(appTools(await thread.step())).toEqual(['calendar_create'])
    await reeve.auth?.login(sessionOf(world.backend.model.issue({ account: 'acct-2', user: 'user-2' })))
    expect(appTools(await thread.step({ wait: 'none' }))).toEqual([])
    expect(world.backend.model.violations).toEqual([])
  })
})

describe('an account that changes while its apps are listed', () => {
  it('is given nothing of the first, nor is the first of it', async () => {
    await using world = await startBackendRuntime({ mode: 'dual_header', ...ON })
    const { model } = world.backend
    let listing: () => void = () => {}
    const asked = new Promise<void>((resolve) => {
      listing = resolve
    })
    offerApps(model, (account) => {
      listing()
      return account === 'acct-1' ? NO_ANSWER : [calendar('calendar_second')]
    })
    const thread = await world.thread()
    const step = thread.step()
    await asked
    await world.signIn('acct-2')
    expect(appTools(await step)).toEqual(['calendar_second'])
    await world.reeve.close()
    expect(await files(world)).toHaveLength(1)
    expect(model.violations).toEqual([])
  })
})

describe('what is kept of hosted apps', () => {
  it.each([
    ['is no JSON', (file: string) => writeFile(file, '{"schema_version":5,"tools":[')],
    ['is of the wrong types', (file: string) => writeFile(file, '{"schema_version":5,"tools":{"name":1}}')],
    ['is too large', (file: string) => truncate(file, 33 * 1024 * 1024)],
  ] as const)('counts as nothing, and is told, when it %s', async (_what, spoil) => {
    await using world = await startCached()
    const [name = ''] = await files(world)
    await spoil(join(world.home, 'cache', 'codex_apps_tools', name))
    offerApps(world.backend.model, () => [calendar('calendar_anew')])
    await using reeve = await later(world)
    const thread = await startThread(reeve)
    expect(appTools(await thread.step())).toEqual(['calendar_anew'])
    expect(reeve.warnings).toMatchObject([{ code: 'apps_cache_unreadable', place: expect.stringContaining(name) }])
  })

  it('is not used by another version, without a word', async () => {
    await using world = await startCached()
    const [name = ''] = await files(world)
    const file = join(world.home, 'cache', 'codex_apps_tools', name)
    await writeFile(file, (await readFile(file, 'utf8')).replace('"schema_version":5', '"schema_version":4'))
    await using reeve = await later(world)
    const thread = await startThread(reeve)
    expect(appTools(await thread.step({ wait: 'none' }))).toEqual([])
    expect(reeve.warnings).toEqual([])
  })

  it('is never what was listed with a token of somebody’s for debugging', async () => {
    await using world = await startBackendRuntime(ON)
    offerApps(world.backend.model, () => [calendar('calendar_create')])
    const env = { ...world.env, CODEX_CONNECTORS_TOKEN: 'debugging' }
    await using reeve = await later(world, { env })
    const thread = await startThread(reeve)
    expect(appTools(await thread.step())).toEqual(['calendar_create'])
    const [first] = appsRequests(world.backend.model, 'tools/list')
    expect(first?.headers).toContainEqual(['authorization', 'Bearer debugging'])
    await reeve.close()
    await expect(files(world)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('may be impossible to keep: the apps are there, and it is told', async () => {
    await using world = await startBackendRuntime(ON)
    await writeFile(join(world.home, 'cache'), 'in the way')
    offerApps(world.backend.model, () => [calendar('calendar_create')])
    await using reeve = await later(world)
    const thread = await startThread(reeve)
    expect(appTools(await thread.step())).toEqual(['calendar_create'])
    await reeve.close()
    expect(reeve.warnings.map((warning) => 'code' in warning && warning.code)).toContain('apps_cache_unwritable')
  })

  it('follows a refresh, for which calls that were prepared before are refused', async () => {
    await using world = await startBackendRuntime(ON)
    const { model } = world.backend
    offerApps(model, () => [calendar('calendar_create')])
    const thread = await world.thread()
    const step = await thread.step()
    offerApps(model, () => [{ ...calendar('calendar_create'), description: 'Other.' }, calendar('calendar_move')])
    expect(await thread.apps.refresh()).toMatchObject([{ tools: ['calendar_create', 'calendar_move'] }])
    const [tool] = step.tools.filter(({ key }) => key.name === 'codex_apps')
    await expect(
      step.call({ namespace: tool?.namespace ?? '', name: tool?.name ?? '', arguments: {} }),
    ).rejects.toMatchObject({ code: 'stale_catalog' })
    expect(appTools(await thread.step())).toEqual(['calendar_create', 'calendar_move'])
    offerApps(model, () => ({ status: 403 }))
    await expect(thread.apps.refresh()).rejects.toMatchObject({ key: { name: 'codex_apps' } })
    await thread.callTool({ ...APPS, tool: 'calendar_move', arguments: {} })
  })
})

it('makes the folder where it is not there yet', async () => {
  await using world = await startBackendRuntime(ON)
  await mkdir(join(world.home, 'cache'), { recursive: true })
  offerApps(world.backend.model, () => [calendar('calendar_create')])
  await (await world.thread()).step()
  await world.reeve.close()
  expect(await files(world)).toHaveLength(1)
})
