import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import type { Thread } from '../../../src/reeve.js'
import { openStore } from '../../../src/store/index.js'
import { ThreadWorld } from '../../fixtures/threads/thread-world.js'

const SERVER = fileURLToPath(new URL('../../fixtures/authority/changing-notes.mjs', import.meta.url))

it('honours 150 remembered decisions after a restart, and not one more', async () => {
  await using world = await ThreadWorld.open()
  const args = [
    SERVER,
    '--more',
    '151',
    '--state',
    join(world.folder, 'state'),
    '--record',
    join(world.folder, 'calls'),
  ]
  world.write(
    'config.toml',
    `[mcp_servers.notes]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify(args)}\n`,
  )
  await world.reopen()
  let asked = 0
  const start = (answer: 'approve_always' | 'decline'): Promise<Thread> =>
    world.reeve.startThread({
      approvalPolicy: 'on-request',
      onApproval: async () => {
        asked += 1
        return answer
      },
    })
  const call = (thread: Thread, index: number) =>
    thread.callTool({ server: 'notes', tool: `more_${index}`, arguments: { nonce: String(index) } })
  const all = Array.from({ length: 150 }, (_, index) => index)
  const first = await start('approve_always')
  for (const index of all) await call(first, index)
  expect(asked).toBe(150)
  await world.reopen()
  const second = await start('decline')
  await Promise.all(all.map((index) => call(second, index)))
  expect(asked).toBe(150)
  await expect(call(second, 150)).rejects.toMatchObject({ code: 'approval_required' })
  expect(asked).toBe(151)
  using store = openStore(join(world.folder, 'state.sqlite'))
  expect(store.approvals.list()).toHaveLength(150)
})
