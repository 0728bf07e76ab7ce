import { describe, expect, it } from 'vitest'
import { startBackend } from '../standins/backend.js'
import { HUB, startBackendRuntime } from '../standins/backend-runtime.js'
import { OnTheWay } from '../standins/backend-wired.js'

const call = { ...HUB, tool: 't', arguments: {} }

describe('changes of a credential that overtake each other', () => {
  it.each(['dual_header', 'assertion_only'] as const)('leave a session of the last one: %s', async (mode) => {
    const onTheWay = new OnTheWay()
    const backend = await startBackend(undefined, () => onTheWay.hold())
    await using world = await startBackendRuntime({ mode, backend })
    const thread = await world.thread()
    await thread.callTool(call)
    onTheWay.close()
    await world.signIn('acct-1')
    // The last message of the new session's handshake is on its way when the next one comes.
    while (world.sent('notifications/initialized').length < 2) {
      await onTheWay.next()
      onTheWay.release(0)
    }
    await world.signIn('acct-1')
    onTheWay.open()
    await thread.callTool(call)
    expect(world.sent('tools/call')).toHaveLength(2)
    expect(backend.model.violations).toEqual([])
  })

  it('revoke nothing that a login has got while somebody signed out', async () => {
    await using world = await startBackendRuntime({ mode: 'dual_header' })
    const thread = await world.thread()
    await thread.callTool(call)
    const leaving = world.reeve.auth?.logout()
    await world.signIn('acct-1')
    await leaving
    expect(world.backend.model.revocations).toEqual(['acct-1'])
    await thread.callTool(call)
    expect(await world.reeve.auth?.refresh()).toBe('changed')
    expect(world.backend.model.violations).toEqual([])
  })
})
