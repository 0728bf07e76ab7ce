import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { serverKey } from '../../src/identity/index.js'
import { openStore } from '../../src/store/index.js'
import { fixture, RealConnections, textOf } from '../fixtures/connections/real-servers.js'

const PROBED = serverKey('probed')
const probed = (way: string, config = {}) => fixture('probed', 'probed.mjs', ['--on-probe', way], config)

async function call(connections: RealConnections): Promise<string> {
  const { prepareCall } = await connections.manager.captureOne(PROBED)
  return textOf(await prepareCall('echo').run({}))
}

describe('what a legacy process makes of the question for its era', () => {
  it.each([
    ['ignores it', 'ignore', true],
    ['writes garbage', 'garble', true],
    ['answers with half an answer', 'unfinished', true],
    ['answers under another id', 'other-id', true],
    ['asks back, then refuses', 'ask-back', true],
    ['ends', 'exit', false],
    ['refuses, then ends', 'answer-and-exit', false],
    ['writes a line over the limit', 'flood', false],
  ])('it %s: it gets its handshake', async (_what, way, inTheSameProcess) => {
    await using connections = await RealConnections.open()
    connections.manager.replace([probed(way, { startupTimeoutMs: 6_000 })])
    await connections.manager.capture({ wait: 'all' })
    expect(connections.manager.statuses()).toMatchObject([{ status: 'connected', era: 'legacy' }])
    expect(await call(connections)).toBe(`probed: ${inTheSameProcess}`)
    const statuses = connections.events.flatMap((event) => (event.type === 'status' ? [event.status] : []))
    expect(statuses).toEqual(['starting', 'ready'])
  })

  it('a process that ends whatever it is asked is named by its end', async () => {
    await using connections = await RealConnections.open()
    connections.manager.replace([fixture('exits', 'exit-3.mjs')])
    await connections.manager.capture({ wait: 'all' })
    expect(connections.manager.statuses()).toMatchObject([
      { status: 'failed', error: { message: expect.stringMatching(/exited with code 3/) } },
    ])
  })
})

describe('what was found out', () => {
  it('is remembered across runs in the state of the home, and costs a known server nothing', async () => {
    const home = await mkdtemp(join(tmpdir(), 'reeve-eras-'))
    try {
      const runs: string[] = []
      for (let run = 0; run < 2; run += 1) {
        using store = openStore(join(home, 'state.sqlite'))
        // The folder of a run is its own; a server without `cwd` there is another one each time.
        await using connections = await RealConnections.open({ fallbackCwd: home }, { eras: store.eras })
        connections.manager.replace([probed('ignore', { startupTimeoutMs: 6_000 })])
        await connections.manager.capture({ wait: 'all' })
        runs.push(await call(connections))
      }
      expect(runs).toEqual(['probed: true', 'probed: false'])
    } finally {
      await rm(home, { recursive: true, force: true })
    }
  })
})
