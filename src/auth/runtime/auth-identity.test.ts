import { expect, it } from 'vitest'
import { AuthWorld } from '../../../test/standins/backend-world.js'
import { authIdentity, toolCacheKey } from './auth-identity.js'

it('tells modes, sources and accounts apart, and a renewed token not', async () => {
  const world = await AuthWorld.open({ signedIn: { account: 'acct-1' } })
  const keyOf = (mode: 'off' | 'dual_header' | 'assertion_only') =>
    toolCacheKey(authIdentity(mode, world.manager.current()), 'https://chatgpt.com/backend-api')
  const first = keyOf('dual_header')
  await world.manager.refresh()
  expect(keyOf('dual_header')).toBe(first)
  expect(new Set([first, keyOf('off'), keyOf('assertion_only')]).size).toBe(3)
  expect(JSON.stringify(authIdentity('off', world.manager.current()))).not.toContain('acct-1')
  await world.manager.login(world.session('acct-2'))
  expect(keyOf('dual_header')).not.toBe(first)
  await world.manager.logout()
  expect(authIdentity('off', world.manager.current())).toEqual({ mode: 'off', source: null, account: null })
})
