import { describe, expect, it, vi } from 'vitest'
import type { ReadyClient } from '../../connections/index.js'
import { RpcError } from '../../errors.js'
import type { JsonObject } from '../../protocol/index.js'
import { TaskStream } from './task-stream.js'

/** A server whose streams the test acknowledges, speaks on, and ends. */
class Streams {
  readonly opened: { readonly ids: unknown; readonly end: () => void; readonly refuse: (error: Error) => void }[] = []
  readonly told: JsonObject[] = []
  readonly missed: string[] = []
  readonly left = new AbortController()
  readonly stream: TaskStream

  constructor(ids: readonly string[]) {
    const client: Pick<ReadyClient, 'era' | 'request'> = {
      era: 'modern',
      request: (_method, params = {}, options = {}) =>
        new Promise((resolve, reject) => {
          const { taskIds } = params.notifications as JsonObject
          options.signal?.addEventListener('abort', () => reject(new Error('gone')))
          this.opened.push({ ids: taskIds, end: () => resolve({}), refuse: reject })
        }),
    }
    this.stream = new TaskStream({
      client: client as ReadyClient,
      ids,
      signal: this.left.signal,
      tell: (task) => this.told.push(task),
      missed: (id) => this.missed.push(id),
    })
  }

  acknowledge(taskIds: readonly string[]): void {
    this.stream.heard('notifications/subscriptions/acknowledged', { notifications: { taskIds: [...taskIds] } }, {})
  }

  change(taskId: string, status: string): void {
    this.stream.heard('notifications/tasks', { taskId, status }, { told: taskId, status })
  }
}

describe('a stream of the changes of tasks', () => {
  it('tells those that the server agreed to, until they have ended', async () => {
    const streams = new Streams(['a', 'b', 'c'])
    const opened = streams.stream.open()
    streams.acknowledge(['a', 'b', 'never asked for'])
    expect(await opened).toEqual(['a', 'b'])
    for (const [id, status] of [
      ['a', 'working'],
      ['c', 'working'],
      ['a', 'completed'],
      ['a', 'working'],
      ['b', 'failed'],
    ] as const) {
      streams.change(id, status)
    }
    expect(streams.told).toEqual([
      { told: 'a', status: 'working' },
      { told: 'a', status: 'completed' },
      { told: 'b', status: 'failed' },
    ])
    streams.opened[0]?.end()
    await Promise.resolve()
    expect(streams.opened).toHaveLength(1)
  })

  it.each<[string, (streams: Streams) => void]>([
    ['refuses', ({ opened }) => opened[0]?.refuse(new RpcError(-32601, 'Method not found'))],
    ['ends the stream', ({ opened }) => opened[0]?.end()],
    ['agrees to nothing', (streams) => streams.acknowledge([])],
  ])('has none where the server %s', async (_what, act) => {
    const streams = new Streams(['a'])
    const opened = streams.stream.open()
    act(streams)
    expect(await opened).toEqual([])
  })

  it('is opened again when it ends early, with what is still watched, which is looked at then', async () => {
    const streams = new Streams(['a', 'b'])
    const opened = streams.stream.open()
    streams.acknowledge(['a', 'b'])
    await opened
    streams.change('b', 'cancelled')
    streams.opened[0]?.end()
    await vi.waitFor(() => expect(streams.opened).toHaveLength(2))
    expect(streams.opened[1]?.ids).toEqual(['a'])
    streams.acknowledge(['a'])
    await vi.waitFor(() => expect(streams.missed).toEqual(['a']))
    streams.opened[1]?.refuse(new RpcError(-32601, 'Method not found'))
    streams.left.abort()
  })
})
