import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { eventually } from '../fixtures/stdio/running.js'
import { BrokerHome } from './broker/home.js'
import { installVersion } from './broker/other-version.js'
import { buildCli, printed } from './built-cli.js'
import { connectV2 } from './gateway/sdk-clients.js'

let home: BrokerHome
beforeAll(buildCli)
beforeEach(async () => {
  home = await BrokerHome.make()
})
afterEach(() => home[Symbol.asyncDispose]())

const ears = () => ({ heard: [], onElicit: () => ({ action: 'accept' as const, content: {} }) })

async function gateway(reeve?: string) {
  const program = home.start(['serve', '--http', '127.0.0.1:0'], reeve === undefined ? {} : { reeve })
  const [, url = ''] = await printed(program, /^endpoint\s+(http:\S+)$/m)
  await printed(program, /^notes\s+\d+ tools$/m)
  const token = readFileSync(join(home.folder, 'run', 'gateway-token'), 'utf8').trim()
  return { program, connect: () => connectV2({ kind: 'http', url, token }, ears()) }
}

const pidIn = (text: string) => Number(JSON.parse(text).pid)

describe('a gateway over HTTP', () => {
  it('is the broker of its home where none runs: its clients and those over stdio share servers', async () => {
    const { program, connect } = await gateway()
    expect(await home.brokerPid()).toBe(program.child.pid)
    await using overHttp = await connect()
    const { content } = await overHttp.callTool('notes__process')
    const overStdio = home.client()
    // Servers are shared among clients that can do the same.
    await overStdio.open({ roots: { listChanged: true }, sampling: {}, elicitation: { form: {} } })
    expect(pidIn(await overStdio.call('notes__process'))).toBe(pidIn((content as [{ text: string }])[0].text))
    expect(home.servers()).toHaveLength(1)
    expect(await home.sessions()).toMatchObject([{ mode: 'host' }, { mode: 'mcp' }])
  })

  it('leaves its clients over stdio with another broker when it ends, and no process of its own', async () => {
    const { program } = await gateway()
    const client = home.client()
    await client.open()
    program.child.kill('SIGTERM')
    expect(await program.exited).toEqual({ code: 143, signal: null })
    expect(home.servers()).toEqual([])
    expect(await client.call('notes__echo', { message: 'goes on' })).toBe('goes on')
    expect(home.brokers()).toHaveLength(1)
  })

  it('ends when the broker that it is is stopped', async () => {
    const { program } = await gateway()
    expect(await home.reeve(['broker', 'stop'])).toMatchObject({ code: 0, stdout: expect.stringContaining('stopped') })
    expect(await program.exited).toEqual({ code: 0, signal: null })
    expect(home.servers()).toEqual([])
  })

  it('goes on serving when a newer broker takes its place', async () => {
    const old = await gateway(installVersion('0.0.9', home.folder))
    {
      await using client = await old.connect()
      expect((await home.reeve(['call', 'notes', 'echo', 'message=new'])).stdout).toBe('new\n')
      expect(await home.brokerPid()).not.toBe(old.program.child.pid)
      expect(await client.callTool('notes__echo', { message: 'still' })).toMatchObject({ content: [{ text: 'still' }] })
    }
    old.program.child.kill('SIGTERM')
    expect((await old.program.exited).code).toBe(143)
    await eventually(() => expect(home.brokers()).toHaveLength(1))
  })

  it('has servers of its own where another broker runs', async () => {
    await home.reeve(['call', 'notes', 'echo', 'message=first'])
    const [broker] = home.brokers()
    const { connect } = await gateway()
    await using client = await connect()
    expect(await client.callTool('notes__echo', { message: 'own' })).toMatchObject({ content: [{ text: 'own' }] })
    expect(home.brokers()).toEqual([broker])
  })
})
