// What only one era has at all: it passes between two of that era, and beyond as far as the other has a place for it.
import { expect } from 'vitest'
import type { JsonObject } from '../../../../src/protocol/index.js'
import { type Cell, callTool, type Feature, textOf } from '../cell.js'
import { ASKING_VALUE } from '../scripted-peer.js'

const FORM = { message: 'Out of the blue?', requestedSchema: { type: 'object', properties: {} } }

export const questionOutsideRequests: Feature = {
  name: 'question outside any request',
  only: { server: 'old' },
  async check({ client, scripted }) {
    const asked = client.asked.length
    expect(await scripted.askListener('elicitation/create', FORM)).toMatchObject({ action: 'accept' })
    expect(client.asked.slice(asked)).toMatchObject([{ method: 'elicitation/create', params: FORM }])
  },
}

export const questionDuringCompletion: Feature = {
  name: 'question during a completion',
  only: { server: 'old' },
  async check({ client }) {
    const params = {
      ref: { type: 'ref/prompt', name: 'scripted__plain' },
      argument: { name: 'kind', value: ASKING_VALUE },
    }
    const { completion } = await client.request('completion/complete', params)
    expect(completion).toEqual({ values: ['accept'] })
  },
}

export const logOutsideRequests: Feature = {
  name: 'log outside any request',
  only: { server: 'old' },
  async check(cell) {
    await cell.client.setLogLevel('debug')
    await expectHeard(cell, 'notifications/message', { level: 'error', logger: 'scripted', data: 'Out of the blue' })
  },
}

export const unknownNotification: Feature = {
  name: 'unknown notification outside any request',
  only: { server: 'old' },
  check: (cell) => expectHeard(cell, 'notifications/com.example/news', { data: 'Out of the blue' }),
}

export const elicitationComplete: Feature = {
  name: 'word that a visit is over',
  only: { server: 'old' },
  async check(cell) {
    const { client, patienceMs } = cell
    const before = client.heard.count
    expect(textOf(await callTool(cell, 'test_elicitation_url'))).toBe('Visit: action=accept')
    await client.heard.next('notifications/elicitation/complete', before, undefined, patienceMs)
  },
}

export const rootsChanged: Feature = {
  name: 'word that roots changed',
  only: { client: 'old' },
  async check({ client, scripted, patienceMs }) {
    await client.notify('notifications/roots/list_changed', {})
    const told = () => scripted.received.map(({ method }) => method)
    await expect.poll(told, { timeout: patienceMs }).toContain('notifications/roots/list_changed')
  },
}

export const structuredList: Feature = {
  name: 'structured output that is no object',
  only: { server: 'new' },
  async check(cell) {
    expect(await callTool(cell, 'test_structured_list')).toMatchObject({ structuredContent: [1, 2, 3] })
  },
}

export const listOfTasks: Feature = {
  name: 'list of tasks',
  only: { client: 'old' },
  async check({ client, names }) {
    const { taskId, outcome } = await client.startTask(names.of('slow_compute'), { seconds: 0.1 })
    const { tasks } = await client.request('tasks/list')
    expect(tasks).toContainEqual(expect.objectContaining({ taskId }))
    await outcome()
  },
}

async function expectHeard({ client, scripted, patienceMs }: Cell, method: string, params: JsonObject) {
  const before = client.heard.count
  scripted.announce(method, params)
  await client.heard.next(method, before, ({ data }) => data === params.data, patienceMs)
}
