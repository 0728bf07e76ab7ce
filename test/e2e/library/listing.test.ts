import { describe, expect, it } from 'vitest'
import { INITIALIZED, startServer } from '../../fixtures/http/server.js'
import { httpServer, TempHome } from './temp-home.js'

const withResources = {
  initialize: ({ result }: { result: (value: Record<string, unknown>) => void }) =>
    result({ ...INITIALIZED, capabilities: { resources: {} } }),
}

describe('listing through a thread', () => {
  it('takes a server without templates for one that has none, and any other refusal for a failure', async () => {
    const plain = await startServer({
      ...withResources,
      'resources/list': ({ result }) => result({ resources: [{ uri: 'a:b', name: 'b' }, 'no object'] }),
      'resources/templates/list': ({ error }) => error(-32601, 'Method not found'),
    })
    const broken = await startServer({
      ...withResources,
      'resources/list': ({ error }) => error(-32601, 'Method not found'),
      'resources/templates/list': ({ error }) => error(-32603, 'out of order'),
    })
    using home = new TempHome(httpServer('plain', plain.url) + httpServer('broken', broken.url))
    await using reeve = await home.open()
    await using thread = await reeve.startThread()
    await thread.step({ wait: 'all' })
    const resources = await thread.resources.listAll()
    expect(resources.pages.map(({ key, items }) => [key.name, items])).toEqual([['plain', [{ uri: 'a:b', name: 'b' }]]])
    expect(resources.failures.map(({ key }) => key.name)).toEqual(['broken'])
    const templates = await thread.resources.templates.listAll()
    expect(templates.pages.map(({ key, items }) => [key.name, items])).toEqual([['plain', []]])
    expect(templates.failures).toEqual([{ key: expect.objectContaining({ name: 'broken' }), error: 'out of order' }])
    await plain.close()
    await broken.close()
  })
})
