import { expect } from 'vitest'
import { type Cell, type Feature, textOf } from '../cell.js'
import type { TaskOutcome } from '../clients/client.js'

const EXTENSION = 'io.modelcontextprotocol/tasks'

export const tasks: Feature = {
  name: 'tasks',
  async check(cell) {
    expectTasksOffered(cell)
    const computed = await outcomeOf(cell, 'slow_compute', { seconds: 0.2, label: 'it' })
    expect(computed.status).toBe('completed')
    expect(textOf(computed.result ?? {})).toBe('Computed it in 0.2 s')
    const asked = cell.client.asked.length
    const confirmed = await outcomeOf(cell, 'confirm_delete', { filename: 'a.txt' })
    expect(textOf(confirmed.result ?? {})).toBe('Deleted a.txt')
    expect(cell.client.asked.slice(asked)).toMatchObject([
      { method: 'elicitation/create', params: { message: 'Delete a.txt?' } },
    ])
    const broken = await outcomeOf(cell, 'protocol_error_job')
    expect(broken).toMatchObject({ status: 'failed', error: { code: -32603, message: 'The job broke' } })
    const long = await cell.client.startTask(cell.names.of('slow_compute'), { seconds: 60 })
    await long.cancel()
    expect(await long.outcome()).toMatchObject({ status: 'cancelled' })
  },
}

/** A client that is not told so does not use them. */
function expectTasksOffered({ client: { era, introduction } }: Cell): void {
  const { tasks: core, extensions } = introduction.capabilities
  if (era === 'old') expect(core).toMatchObject({ requests: { tools: { call: {} } } })
  else expect(extensions).toHaveProperty([EXTENSION])
}

async function outcomeOf({ client, names }: Cell, tool: string, args = {}): Promise<TaskOutcome> {
  const task = await client.startTask(names.of(tool), args)
  const outcome = await task.outcome()
  expect(outcome.taskId).toBe(task.taskId)
  return outcome
}
