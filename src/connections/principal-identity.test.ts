import { expect, it } from 'vitest'
import { httpServer, stdioServer } from '../../test/fixtures/connections/servers.js'
import { cacheIdentity, connectionIdentity, type IdentityContext } from './identity.js'

const CONTEXT: IdentityContext = {
  profile: { clientInfo: { name: 'reeve', version: '1' }, capabilities: {} },
  env: {},
  fallbackCwd: '/srv/here',
}

it('keeps apart what principals connect to, and what they were offered', () => {
  for (const server of [stdioServer('s'), httpServer('s', {}, { httpHeaders: { Authorization: 'Bearer x' } })]) {
    const whose = [{}, { principal: 'oauth-a' }, { principal: 'oauth-b' }].map((own) => ({ ...CONTEXT, ...own }))
    expect(new Set(whose.map((context) => connectionIdentity(server, context).digest)).size).toBe(3)
    expect(new Set(whose.map((context) => cacheIdentity(server, context) ?? 'none')).size).toBe(3)
  }
})
