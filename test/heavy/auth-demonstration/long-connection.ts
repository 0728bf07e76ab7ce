import { expect } from 'vitest'
import { eventually } from '../../fixtures/stdio/running.js'
import { HUB, HUB_PATH, startBackendRuntime } from '../../standins/backend-runtime.js'
import { UrlRefusal } from './network.js'
import { assertionOf, nameOf, outcome, type Scene, type Told } from './scene.js'

const call = { ...HUB, tool: 't', arguments: {} }

/** One connection: calls, a rotation, redirects, and a network policy that is taken back before a call and during one. */
export async function longConnection(homesIn: string): Promise<Scene> {
  const network = new UrlRefusal()
  const told: Told = []
  await using world = await startBackendRuntime({
    mode: 'dual_header',
    homesIn,
    firstParty: { networks: () => network },
  })
  const { model } = world.backend
  const thread = await world.thread()
  const rows: string[][] = []
  let shown = 0
  const show = (what: string, ended: string) => {
    rows.push([`**${what}**`, '', '', '', ended])
    for (const request of model.requests.slice(shown)) {
      const [id, instance] = assertionOf(request)
      rows.push([nameOf(request), request.account ?? '–', id, instance, ''])
    }
    shown = model.requests.length
  }
  const make = () => outcome(told, () => thread.callTool(call))

  show('the first call', await make())
  show('another', await make())
  show('a refresh', await outcome(told, async () => world.reeve.auth?.refresh()))
  show('a call after it', await make())
  const refused: string[] = []
  for (const status of [307, 308])
    for (const location of [HUB_PATH, 'https://elsewhere.example.test/mcp']) {
      model.rpcReplies.set('tools/call', [{ status, headers: { location } }])
      refused.push(await make())
      show(
        `answered by ${status} to ${location === HUB_PATH ? 'the same origin' : 'another origin'}`,
        refused.at(-1) ?? '',
      )
    }
  expect(refused).toEqual(Array.from({ length: 4 }, () => 'redirect_refused'))
  network.reason = 'closed for maintenance'
  const sent = model.requests.length
  const before = await make()
  show('the policy refuses, before a call', before)
  expect([before, model.requests.length]).toEqual(['auth_revoked', sent])
  network.reason = undefined
  show('the policy permits again', await make())
  const calls = world.sent('tools/call').length
  model.rpcReplies.set('tools/call', [{ status: 200, fault: 'silent' }])
  const during = make()
  await eventually(() => expect(world.sent('tools/call')).toHaveLength(calls + 1))
  network.revoke()
  show('the policy is taken back during a call', await during)
  expect(await during).toBe('auth_revoked')
  show('a call after that', await make())
  expect(world.sent('tools/call')).toHaveLength(calls + 1)
  const assertions = model.requests.flatMap(({ assertion }) => assertion ?? [])
  expect(new Set(assertions).size).toBe(assertions.length)
  expect(model.registrations).toHaveLength(2)
  expect(model.violations).toEqual([])
  rows.push([
    `**${new Set(assertions).size} assertions, all different; ${model.registrations.length} instances**`,
    '',
    '',
    '',
    '',
  ])
  return { rows, secrets: model.secrets, told: [...told, inspectable(world.reeve.warnings)] }
}

function inspectable(warnings: readonly Error[]): string {
  return warnings.map((warning) => `${warning.stack}\n${JSON.stringify(warning)}`).join('\n')
}
