// What servers tell without being asked, and how clients take a request back.
import { expect } from 'vitest'
import type { JsonObject } from '../../../../src/protocol/index.js'
import { type Cell, callTool, type Feature, textOf } from '../cell.js'
import { TakenBackError } from '../wires/wire.js'

export const subscribe: Feature = {
  name: 'subscribe',
  async check(cell) {
    const { client, names } = cell
    const [watched, other] = ['test://watched-resource', 'test://static-text'].map((uri) => names.uri(uri))
    const update = (uri: string) => callTool(cell, 'test_trigger_resource_update', { uri })
    const updatesOf = (uri: unknown, from: number) =>
      client.heard.since(from, 'notifications/resources/updated').filter(({ params }) => params.uri === uri)
    const begin = client.heard.count
    const watching = await client.watch({ uris: [String(watched)] })
    await update('test://static-text')
    await update('test://watched-resource')
    await client.heard.next('notifications/resources/updated', begin, ({ uri }) => uri === watched)
    expect(updatesOf(other, begin)).toEqual([])
    await watching[Symbol.asyncDispose]()
    const later = client.heard.count
    await using _ = await client.watch({ uris: [String(other)] })
    await update('test://watched-resource')
    await update('test://static-text')
    await client.heard.next('notifications/resources/updated', later, ({ uri }) => uri === other)
    expect(updatesOf(watched, later)).toEqual([])
  },
}

export const listChanged: Feature = {
  name: 'list_changed',
  async check(cell) {
    const { client } = cell
    await using _ = await client.watch({ lists: true })
    for (const [kind, list, added] of LISTS) {
      for (const there of [true, false]) {
        const before = client.heard.count
        await callTool(cell, `test_trigger_${kind}_change`)
        await client.heard.next(`notifications/${kind}s/list_changed`, before)
        // It may have been told of something else that changed.
        await expect.poll(() => isListed(cell, list, added), { timeout: 10_000, message: added }).toBe(there)
      }
    }
  },
}

const LISTS = [
  ['tool', 'tools', 'test_added_tool'],
  ['prompt', 'prompts', 'test_added_prompt'],
  ['resource', 'resources', 'added-resource'],
] as const

async function isListed({ client }: Cell, list: string, name: string): Promise<boolean> {
  const items = (await client.request(`${list}/list`))[list] as JsonObject[]
  return items.some((item) => String(item.name).endsWith(name))
}

export const logging: Feature = {
  name: 'logging',
  async check(cell) {
    const { client, names } = cell
    const logged = async (level: string | undefined) => {
      await client.setLogLevel(level)
      const before = client.heard.count
      await callTool(cell, 'test_tool_with_logging')
      return (many: number) =>
        many === 0
          ? client.heard.since(before, 'notifications/message')
          : client.heard.several(many, 'notifications/message', before)
    }
    const loud = await logged('info')
    expect(await loud(3)).toMatchObject(
      ['started', 'processing data', 'completed'].map((what) => ({
        level: 'info',
        logger: expect.stringContaining(names.server),
        data: `Tool ${what === 'processing data' ? what : `execution ${what}`}`,
      })),
    )
    for (const level of ['error', undefined]) {
      const quiet = await logged(level)
      expect(await quiet(0), `at level ${level}`).toEqual([])
    }
  },
}

export const progress: Feature = {
  name: 'progress',
  async check({ client, names }) {
    for (const progressToken of ['token', 7, 0, '']) {
      const before = client.heard.count
      await client.request('tools/call', { name: names.of('test_tool_with_progress') }, { progressToken })
      const reported = await client.heard.several(3, 'notifications/progress', before)
      expect(reported).toEqual([
        { progressToken, progress: 0, total: 100, message: 'Started' },
        { progressToken, progress: 50, total: 100, message: 'Half way' },
        { progressToken, progress: 100, total: 100, message: 'Done' },
      ])
    }
  },
}

export const cancellation: Feature = {
  name: 'cancellation',
  async check(cell) {
    const { client, names } = cell
    const label = `cancelled ${client.heard.count} ${JSON.stringify(cell.combination)}`
    const before = client.heard.count
    const slow = { name: names.of('test_slow'), arguments: { ms: 60_000, label } }
    const call = client.start('tools/call', slow, { progressToken: label })
    call.result.catch(() => undefined)
    await client.heard.next('notifications/progress', before, ({ progressToken }) => progressToken === label)
    await call.cancel()
    await expect(call.result).rejects.toBeInstanceOf(TakenBackError)
    const cancelled = async () => JSON.parse(textOf(await callTool(cell, 'test_cancelled')))
    await expect.poll(cancelled, { timeout: 10_000 }).toContain(label)
  },
}
