import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/protocol/index.js'
import type { EraClient } from './clients/client.js'
import { COMBINATIONS, titleOf } from './combinations.js'
import { CLIENT_CAPABILITIES } from './features/unknown.js'
import { type Outcome, ScriptedServer } from './fidelity/scripted-server.js'
import { serveScript } from './fidelity/serve-script.js'
import { Gateways } from './gateways.js'
import { untilListed } from './until-listed.js'

const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId'
const task = (taskId: string, status: string): JsonObject => ({
  taskId,
  status,
  createdAt: '2026-08-01T00:00:00Z',
  lastUpdatedAt: '2026-08-01T00:00:01Z',
  ttlMs: 60_000,
})

const OF_NEW = COMBINATIONS.filter(({ client, server }) => client === 'new' && server === 'new')

describe.each(OF_NEW.map((combination) => [titleOf(combination), combination] as const))(
  'a client that listens for the tasks of a server: %s',
  (_title, { client: era, server, downstream, upstream }) => {
    let created = 0
    const scripted = new ScriptedServer(server, {
      hello: {
        serverInfo: { name: 'scripted', version: '1' },
        capabilities: { tools: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } },
      },
      async respond(method, params): Promise<Outcome> {
        if (method === 'tools/list') return { result: { tools: [{ name: 'work', inputSchema: { type: 'object' } }] } }
        if (method === 'tasks/get') return { result: task(String(params.taskId), 'working') }
        created += 1
        return { result: { ...task(`task-${created}`, 'working'), resultType: 'task' } }
      },
    })
    let gateways: Gateways
    let clients: EraClient[]
    beforeAll(async () => {
      gateways = await Gateways.open({ scripted: await serveScript(scripted, server, upstream) })
      const spec = { era, transport: downstream, front: 'merged', capabilities: CLIENT_CAPABILITIES } as const
      clients = [await gateways.connect(spec), await gateways.connect(spec)]
      for (const client of clients) await untilListed(client, ['scripted__work'])
    })
    afterAll(async () => {
      for (const client of clients ?? []) await client[Symbol.asyncDispose]()
      await gateways?.[Symbol.asyncDispose]()
    })

    it('is told each change, once, under the names that it knows, and nobody else is', async () => {
      const [client, other] = clients as [EraClient, EraClient]
      const { taskId } = await client.startTask('scripted__work', {})
      const raw = `task-${created}`
      const before = clients.map(({ heard }) => heard.count)
      await using _ = await client.watch({ taskIds: [taskId, 'reeve-task://scripted/unheard-of', 'nobody'] })
      const acknowledged = client.heard.since(before[0] ?? 0, 'notifications/subscriptions/acknowledged')
      expect(acknowledged).toMatchObject([{ params: { notifications: { taskIds: expect.arrayContaining([taskId]) } } }])
      expect(JSON.stringify(acknowledged)).not.toContain('nobody')

      scripted.announce('notifications/tasks', { ...task(raw, 'working'), statusMessage: 'half done', odd: [1] })
      const told = await client.heard.next('notifications/tasks', before[0] ?? 0)
      expect(told).toEqual({
        ...task(taskId, 'working'),
        statusMessage: 'half done',
        odd: [1],
        _meta: { [SUBSCRIPTION]: expect.anything() },
      })
      const result = { content: [{ type: 'resource_link', uri: 'a:b', name: 'b' }] }
      scripted.announce('notifications/tasks', { ...task(raw, 'completed'), result })
      const [, ended] = await client.heard.several(2, 'notifications/tasks', before[0] ?? 0)
      expect(ended).toMatchObject({
        taskId,
        status: 'completed',
        result: { content: [{ uri: 'reeve://scripted/a:b' }] },
      })

      // Another task's change goes the same way behind them, so whatever else there is has come by then.
      const later = await other.startTask('scripted__work', {})
      await using __ = await other.watch({ taskIds: [later.taskId] })
      scripted.announce('notifications/tasks', task(`task-${created}`, 'completed'))
      await other.heard.next('notifications/tasks', before[1] ?? 0)
      expect(client.heard.since(before[0] ?? 0, 'notifications/tasks')).toHaveLength(2)
      expect(other.heard.since(before[1] ?? 0, 'notifications/tasks')).toHaveLength(1)
    })
  },
)
