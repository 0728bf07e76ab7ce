import { vi } from 'vitest'
import type { EraClient } from '../clients/client.js'
import { ofCapabilities, ofParams, ofResult } from './across.js'
import type { Passage } from './passages.js'
import { CUSTOM_METHOD, TOLD } from './script-of.js'
import type { ScriptedServer } from './scripted-server.js'
import type { World } from './world.js'

interface Direct {
  readonly world: World
  readonly client: EraClient
  readonly server: ScriptedServer
}

/** Says what only a transparent gateway has a place for. */
export async function converseDirectly({ client, server, world }: Direct): Promise<readonly Passage[]> {
  const passages: Passage[] = [
    { place: 'serverInfo', sent: world.hello.serverInfo, came: client.introduction.serverInfo },
    ofCapabilities('capabilities', world.hello.capabilities, client.introduction.capabilities),
  ]
  for (const [method, member, items] of [
    ['resources/list', 'resources', world.resources.map(({ listed }) => listed)],
    ['prompts/list', 'prompts', world.prompts.map(({ listed }) => listed)],
  ] as const) {
    passages.push(
      ofResult(`result of ${method}`, { ...world.lists, [member]: [...items] }, await client.request(method)),
    )
  }
  const { params, result } = world.custom
  passages.push(ofResult('result of an unknown method', result, await client.request(CUSTOM_METHOD, params)))
  passages.push(ofParams('params of an unknown method', params, server.last(CUSTOM_METHOD)))
  if (client.era === 'old' && server.era === 'old') passages.push(...(await betweenOldOnes({ client, server, world })))
  return passages
}

/** What the new era has no place for. */
async function betweenOldOnes({ client, server, world }: Direct): Promise<Passage[]> {
  const watched = { ...world.told, uri: String(world.resources[0]?.listed.uri) }
  await client.request('resources/subscribe', watched)
  await client.notify(TOLD, world.told)
  const told = await vi.waitFor(() => server.last(TOLD) ?? Promise.reject(new Error('nothing was told')), 10_000)
  return [
    ofParams('params of resources/subscribe', watched, server.last('resources/subscribe')),
    ofParams('params of an unknown notification of the client', world.told, told),
  ]
}
