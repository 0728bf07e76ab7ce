import { beforeAll, describe, expect, it } from 'vitest'
import { webSocketConnector } from '../../src/environments/index.js'
import { buildCli } from '../e2e/built-cli.js'
import { type ExecutorProgram, executorProgram } from '../e2e/executor-program.js'
import { echoOn, PlacedConnections } from '../fixtures/executor/placed-connections.js'
import { silentExecutor } from '../fixtures/executor/silent-executor.js'

beforeAll(buildCli, 300_000)

const EXECUTORS = Array.from({ length: 8 }, (_, index) => `box${index + 1}`)
const SERVERS = Array.from({ length: 10 }, (_, index) => `server${index + 1}`)
/** What a server takes to come up, most of which it waits: so that the cores of one machine are not what is measured. */
const START = 5000
/** For an executor that never answers. */
const DEAD = 1500

describe('eight executors with ten servers each', () => {
  it('start all at once, and one that is dead delays nobody', async () => {
    await using fleet = await startFleet()
    await using dead = await silentExecutor()
    const reached = Object.fromEntries(fleet.programs.map(([id, { url }]) => [id, url]))
    const connector = webSocketConnector({ environment: 'dead', url: dead.url })
    await using connections = await PlacedConnections.open({
      executors: { ...reached, dead: { connector, initializeMs: DEAD } },
    })
    const servers = EXECUTORS.flatMap((id) =>
      SERVERS.map((name) => echoOn(id, name, ['--start-delay', `${START}`], { startupTimeoutMs: 120_000 })),
    )
    const lost = echoOn('dead', 'lost')
    const began = performance.now()
    const cpu = process.cpuUsage()
    const took = (): number => performance.now() - began
    connections.manager.replace([lost, ...servers])
    const refused = connections.manager.ready(lost.key).then(
      () => 'ready',
      (error: { readonly code?: string }) => ({ code: error.code, after: took() }),
    )
    const times = await Promise.all(
      servers.map(async ({ key }) => {
        await connections.manager.ready(key)
        return took()
      }),
    )
    const total = took()
    const { user, system } = process.cpuUsage(cpu)
    const alone = await slowerAlone(reached)
    const ratio = total / alone
    console.log(
      `${servers.length} servers on ${EXECUTORS.length} executors: all up after ${ms(total)}, first after ` +
        `${ms(Math.min(...times))}; one executor's ten alone: ${ms(alone)}; ratio ${ratio.toFixed(2)}; ` +
        `${ms((user + system) / 1000)} of processor here`,
    )
    console.log(`the dead executor: ${JSON.stringify(await refused)}, bound ${DEAD} ms`)
    expect(await refused).toMatchObject({ code: 'startup_failed' })
    const states = connections.manager.statuses().map(({ key, status }) => `${key.environment}/${key.name} ${status}`)
    expect(states.filter((state) => state.endsWith(' connected'))).toHaveLength(servers.length)
    expect(states.filter((state) => !state.endsWith(' connected'))).toEqual(['dead/lost failed'])
  })
})

/** The slower of two of the executors, each with its ten servers and nothing else going on. */
async function slowerAlone(reached: Readonly<Record<string, string>>): Promise<number> {
  let slowest = 0
  for (const [id, url] of Object.entries(reached).slice(0, 2)) {
    await using connections = await PlacedConnections.open({ executors: { [id]: url } })
    const servers = SERVERS.map((name) =>
      echoOn(id, name, ['--start-delay', `${START}`], { startupTimeoutMs: 120_000 }),
    )
    const began = performance.now()
    await connections.up(...servers)
    slowest = Math.max(slowest, performance.now() - began)
  }
  return slowest
}

async function startFleet(): Promise<AsyncDisposable & { readonly programs: readonly [string, ExecutorProgram][] }> {
  const programs = await Promise.all(
    EXECUTORS.map(async (id): Promise<[string, ExecutorProgram]> => [id, await executorProgram()]),
  )
  return {
    programs,
    async [Symbol.asyncDispose]() {
      await Promise.all(programs.map(([, program]) => program[Symbol.asyncDispose]()))
    },
  }
}

function ms(value: number): string {
  return `${value.toFixed(0)} ms`
}
