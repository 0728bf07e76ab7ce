import { Socket } from 'node:net'
import { expect, it } from 'vitest'
import { RemoteThread } from './remote-thread.js'

it('names what only a thread of this process can have', async () => {
  const reviewer = { review: async () => ({ outcome: 'allow' }) }
  await expect(RemoteThread.start(new Socket(), { reviewer, hooks: [], elicitations: {} })).rejects.toMatchObject({
    code: 'unsupported',
    message:
      'a thread of the broker takes no `reviewer`, `hooks`, `elicitations`: these are for threads of this process (`Reeve.startThread`)',
  })
})
