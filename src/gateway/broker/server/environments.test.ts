import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { BrokerHome, ECHO, textOf } from '../../../../test/fixtures/broker/broker-home.js'
import { serveExecutorWebSocket, type WebSocketExecutor } from '../../../executor/index.js'
import type { ThreadEvent } from '../../../threads/index.js'
import type { SessionHello } from '../wire/hello.js'

let home: BrokerHome
const executors: WebSocketExecutor[] = []
beforeEach(async () => {
  home = await BrokerHome.make({})
})
afterEach(async () => {
  await home[Symbol.asyncDispose]()
  await Promise.all(executors.splice(0).map((executor) => executor[Symbol.asyncDispose]()))
})

/** An executor whose servers can tell it from others by their language. */
async function executor(language: string): Promise<WebSocketExecutor> {
  const env = { PATH: process.env.PATH, HOME: home.path, LANG: language }
  const authentication = { kind: 'none' } as const
  const started = await serveExecutorWebSocket({ host: '127.0.0.1', port: 0, authentication, env })
  executors.push(started)
  return started
}

/** A configuration with one server in the environment `box`, which is that executor. */
async function configuration(name: string, { url }: { readonly url: string }): Promise<string> {
  const file = join(home.path, name)
  const lines = [
    '[mcp_servers.there]',
    `command = ${JSON.stringify(process.execPath)}`,
    `args = ${JSON.stringify([ECHO])}`,
    `cwd = ${JSON.stringify(home.path)}`,
    'environment_id = "box"',
    '[[environments]]',
    'id = "box"',
    `url = ${JSON.stringify(url)}`,
  ]
  await writeFile(file, lines.join('\n'))
  return file
}

const hello = (mode: 'mcp' | 'thread', file: string, more: Partial<SessionHello> = {}) => ({
  hello: { mode, cwd: home.path, configFiles: [file], environments: [], resumed: 0, transparent: false, ...more },
})

const THERE = { server: 'there' }

it('shares servers and environments between clients whose definitions are equal', async () => {
  const { url } = await executor('one')
  await home.open()
  const files = await Promise.all([configuration('a.toml', { url }), configuration('b.toml', { url })])
  const pids: number[] = []
  for (const file of files) {
    const thread = await home.thread({}, hello('thread', file))
    expect(textOf(await thread.callTool({ ...THERE, tool: 'env', arguments: { name: 'LANG' } }))).toContain('one')
    pids.push(JSON.parse(textOf(await thread.callTool({ ...THERE, tool: 'process' }))).pid)
  }
  expect(pids[0]).toBeGreaterThan(0)
  expect(pids[1]).toBe(pids[0])
})

it('keeps clients apart that mean different executors by one id', async () => {
  await home.open()
  const answers = await Promise.all(
    ['one', 'two'].map(async (language) => {
      const file = await configuration(`${language}.toml`, await executor(language))
      const thread = await home.thread({}, hello('thread', file))
      return textOf(await thread.callTool({ ...THERE, tool: 'env', arguments: { name: 'LANG' } }))
    }),
  )
  expect(answers[0]).toContain('one')
  expect(answers[1]).toContain('two')
})

it('tells a client of its environments', async () => {
  const one = await executor('one')
  await home.open()
  const events: ThreadEvent[] = []
  const onEvent = (event: ThreadEvent) => void events.push(event)
  const thread = await home.thread({ onEvent }, hello('thread', await configuration('a.toml', one)))
  await thread.callTool({ ...THERE, tool: 'process' })
  const told = () => events.flatMap((event) => (event.type === 'environment' ? [event] : []))
  await vi.waitFor(() => expect(told()).toMatchObject([{ environment: 'box', status: 'connected' }]))
  await one[Symbol.asyncDispose]()
  await vi.waitFor(() => expect(told().at(-1)).toMatchObject({ environment: 'box', status: 'disconnected' }))
  expect(home.log.some(({ message }) => message === 'environment disconnected')).toBe(true)
})

it('refuses an environment that the configuration of the client has not, with those that it has', async () => {
  await home.open()
  const file = await configuration('a.toml', await executor('one'))
  await expect(home.join('mcp', hello('mcp', file, { environments: ['local', 'bax'] }))).rejects.toMatchObject({
    code: 'unknown_environment',
    message: "no environment 'bax': there are local, box",
  })
})
