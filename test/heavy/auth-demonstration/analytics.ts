import { join } from 'node:path'
import { expect } from 'vitest'
import { AuthManager, hostTokensSource, systemClock } from '../../../src/auth/index.js'
import { Reeve, type Thread, type ThreadOptions } from '../../../src/reeve.js'
import { deliveriesIn, eventsOf } from '../../standins/backend-analytics.js'
import { startBackendRuntime } from '../../standins/backend-runtime.js'
import { assertionOf, headersOf, type Scene } from './scene.js'

const MODES = ['dual_header', 'assertion_only'] as const
const analytics = { enabled: true }

/** Two threads with accounts and modes of their own, taken up again by another runtime: what each delivers. */
export async function resumedActors(homesIn: string): Promise<Scene> {
  await using world = await startBackendRuntime({ account: null, homesIn, analytics })
  const { model } = world.backend
  const actors: { readonly options: ThreadOptions; readonly id: string }[] = []
  for (const [index, runtimeAuthMode] of MODES.entries()) {
    const account = `acct-${index + 1}`
    const { accessToken } = model.issue({ account, user: `user-${index + 1}` })
    const host = hostTokensSource({ accessToken, accountId: account })
    const auth = await AuthManager.open({ sources: [], host, clock: systemClock })
    const options = { auth, runtimeAuthMode }
    const thread = await world.reeve.startThread({ ...options, persist: true })
    await modelCall(thread)
    await thread.close()
    actors.push({ options, id: thread.id })
  }
  await world.reeve.close()
  const before = deliveriesIn(model).length
  const { home, env, backend } = world
  const firstParty = { route: backend.route }
  const configFiles = [join(home, 'config.toml')]
  await using again = await Reeve.open({ home, env, cwd: home, configFiles, analytics, firstParty })
  for (const { options, id } of actors) {
    const thread = await again.resumeThread(id, options)
    await modelCall(thread)
    await thread.close()
  }
  const deliveries = deliveriesIn(model).slice(before)
  expect(deliveries.map(({ account }) => account)).toEqual(['acct-1', 'acct-2'])
  const rows = deliveries.map((delivery, index) => {
    const events = eventsOf([delivery])
    expect(new Set(events.map(({ params }) => params.thread_id))).toEqual(new Set([actors[index]?.id]))
    const mode = MODES[index] ?? ''
    return [
      `actor ${index + 1}, ${mode}`,
      delivery.account ?? '–',
      String(events.length),
      assertionOf(delivery)[0],
      headersOf(delivery),
    ]
  })
  expect(model.violations).toEqual([])
  return { rows, secrets: model.secrets, told: [] }
}

async function modelCall(thread: Thread): Promise<void> {
  const step = await thread.step({ wait: 'all', turn: { metadata: { turn_id: 'turn-1' } } })
  const tool = step.tools.find(({ tool: name }) => name === 't')
  if (tool === undefined) throw new Error('no tool')
  await step.call({ namespace: tool.namespace, name: tool.name, arguments: {} })
}
