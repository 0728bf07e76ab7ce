import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { Reeve, type Step, type ThreadEvent } from '../../src/reeve.js'
import { textOf } from '../fixtures/connections/real-servers.js'
import { ECHO } from '../fixtures/executor/placed-connections.js'
import { buildCli } from './built-cli.js'
import { type ExecutorProgram, executorProgram } from './executor-program.js'

beforeAll(buildCli, 300_000)

/** A runtime whose thread has a server `notes` on each of these executors, from a plugin folder there. */
async function threadOver(executors: Readonly<Record<string, ExecutorProgram>>) {
  const home = await mkdtemp(join(tmpdir(), 'reeve-threads-'))
  const ids = Object.keys(executors)
  const entries = Object.entries(executors).map(
    ([id, { url }]) => `[[environments]]\nid = "${id}"\nurl = "${url}"\nworkspace = ${JSON.stringify(home)}\n`,
  )
  await writeFile(join(home, 'config.toml'), `[features]\nmulti_environment_mcp = true\n${entries.join('')}`)
  const roots = ids.map((id) => ({ id: `notes@${id}`, environment: id, path: join(home, id) }))
  for (const { path } of roots) {
    await mkdir(join(path, '.codex-plugin'), { recursive: true })
    await writeFile(join(path, '.codex-plugin', 'plugin.json'), JSON.stringify({ name: 'notes', version: '1.0.0' }))
    const mcpServers = { notes: { command: process.execPath, args: [ECHO] } }
    await writeFile(join(path, '.mcp.json'), JSON.stringify({ mcpServers }))
  }
  const events: ThreadEvent[] = []
  const watchers = new Set<() => void>()
  const reeve = await Reeve.open({ home, cwd: home, env: { PATH: process.env.PATH, HOME: home, REEVE_HOME: home } })
  const thread = await reeve.startThread({
    environments: ids.map((id) => ({ id, cwd: home })),
    capabilityRoots: roots,
    onApproval: async () => 'approve',
    onEvent: (event) => {
      events.push(event)
      for (const watcher of [...watchers]) watcher()
    },
  })
  return {
    thread,
    statuses: (environment: string) =>
      events.flatMap((event) =>
        event.type === 'status' && event.key.environment === environment ? [event.status] : [],
      ),
    async until(holds: () => boolean): Promise<void> {
      while (!holds())
        await new Promise<void>((resolve) => {
          const watcher = () => {
            watchers.delete(watcher)
            resolve()
          }
          watchers.add(watcher)
        })
    },
    async [Symbol.asyncDispose]() {
      await reeve.close()
      await rm(home, { recursive: true, force: true })
    },
  }
}

/** The echo tool of one environment's server, as the step offers it. */
function echoIn(step: Step, environment: string) {
  return step.tools.find(({ key, tool }) => key.environment === environment && tool === 'echo')
}

describe('a thread over two executors', () => {
  it('keeps one when the other is killed, and has both again when it is back', async () => {
    await using boxa = await executorProgram()
    await using boxb = await executorProgram()
    await using running = await threadOver({ boxa, boxb })
    const { thread } = running
    const say = async (step: Step, environment: string) => {
      const found = echoIn(step, environment)
      if (found === undefined) throw new Error(`no echo in ${environment}`)
      const { namespace, name } = found
      return textOf(await step.call({ namespace, name, arguments: { message: environment } }))
    }
    const both = await thread.step({ wait: 'all' })
    expect([await say(both, 'boxa'), await say(both, 'boxb')]).toEqual(['boxa', 'boxb'])

    await boxa.kill()
    await running.until(() => running.statuses('boxa').includes('failed'))
    const one = await thread.step()
    expect([echoIn(one, 'boxa'), await say(one, 'boxb')]).toEqual([undefined, 'boxb'])

    await boxa.restart()
    await running.until(() => running.statuses('boxa').at(-1) === 'ready')
    const again = await thread.step()
    expect([await say(again, 'boxa'), await say(again, 'boxb')]).toEqual(['boxa', 'boxb'])
    expect(running.statuses('boxa')).toEqual(['starting', 'ready', 'failed', 'starting', 'ready'])
    expect(running.statuses('boxb')).toEqual(['starting', 'ready'])
  })
})
