import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { z } from 'zod'
import type { ThreadEvent } from '../../src/reeve.js'
import { startSdkV2Server } from '../fixtures/http/sdk-v2-server.js'
import { NOTES, notes, ThreadWorld } from '../fixtures/threads/thread-world.js'

const SCHEMAS = 'https://agent-plugins.org/schemas/1.0.0'
const FEATURES = { executor_capability_discovery: true, executor_capability_discovery_v2: true }

/** Puts a file into the home of the executor's user. */
function write(world: ThreadWorld, path: string, content: object | string): void {
  const file = join(world.folder, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
}

it('a thread has servers of roots, of installed plugins and of the executor, and hears what is left out', async () => {
  await using web = await startSdkV2Server()
  await using world = await ThreadWorld.open({
    executors: ['box'],
    config: '[plugins."extra@market"]\nenabled = true\n',
    plugins: [{ id: 'root', environment: 'box', servers: { notes: notes('--as', 'root'), broken: {} } }],
    features: FEATURES,
  })
  const installed = '.codex/plugins/cache/market'
  const manifest = (name: string, as: string) => ({
    name,
    mcpServers: { notes: notes('--as', as), [name]: notes('--as', as) },
  })
  write(world, `${installed}/extra/1.0.0/.codex-plugin/plugin.json`, manifest('extra', 'installed'))
  write(world, `${installed}/silent/1.0.0/.codex-plugin/plugin.json`, manifest('silent', 'nobody'))
  write(world, '.codex/config.toml', `[mcp_servers.web]\nurl = "${web.url}"\n[mcp_servers.program]\ncommand = "node"\n`)
  write(world, 'agent/plugin.json', { $schema: `${SCHEMAS}/plugin.schema.json`, name: 'agent' })
  write(world, 'agent/mcp.json', {
    $schema: `${SCHEMAS}/mcp.schema.json`,
    mcpServers: {
      agent: { type: 'stdio', command: 'node', args: [NOTES, '--as', `\${PLUGIN_DATA}`], cwd: `\${PLUGIN_DATA}` },
    },
  })

  const told: ThreadEvent[] = []
  await using thread = await world.reeve.startThread({
    environments: world.select('box'),
    capabilityRoots: [...world.roots, { id: 'agent', environment: 'box', path: join(world.folder, 'agent') }],
    onEvent: (event) => told.push(event),
  })
  const step = await thread.step({ wait: 'all' })
  expect(thread.servers().map(({ key, status, pluginId }) => [key.name, key.environment, status, pluginId])).toEqual([
    ['agent', 'box', 'connected', 'agent'],
    ['extra', 'box', 'connected', 'extra@market'],
    ['notes', 'box', 'connected', 'root'],
    ['web', 'box', 'connected', undefined],
  ])
  const as = async (server: string) => {
    const tool = step.tools.find(({ key, tool: raw }) => key.name === server && raw === 'whoami')
    if (tool === undefined) throw new Error(`${server} has no such tool`)
    const [{ text }] = z.tuple([z.looseObject({ text: z.string() })]).parse((await step.call(tool)).content)
    return z.looseObject({ as: z.string() }).parse(JSON.parse(text)).as
  }
  expect(await as('notes')).toBe('root')
  expect(await as('extra')).toBe('installed')
  expect(await as('agent')).toBe(join(world.folder, '.reeve', 'plugin-data', 'agent'))
  expect(web.sessions()).toBeGreaterThan(0)

  const problems = told.flatMap((event) => (event.type === 'problem' ? [event.problem] : []))
  expect(problems.map(({ code }) => code).sort()).toEqual(['invalid_plugin_server', 'plugin_conflict', 'stdio_skipped'])

  // What a plugin declares now counts from the next reload on.
  world.rewrite('root', { other: notes('--as', 'edited') })
  expect((await thread.step({ wait: 'all' })).namespaces.map(({ key }) => key.name)).toContain('notes')
  await world.reeve.reload()
  const later = await thread.step({ wait: 'all' })
  expect(later.namespaces.map(({ key }) => key.name).sort()).toEqual(['agent', 'extra', 'notes', 'other', 'web'])
  expect(thread.servers().find(({ key }) => key.name === 'notes')?.pluginId).toBe('extra@market')
}, 60_000)
