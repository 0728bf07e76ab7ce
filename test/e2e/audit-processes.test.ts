import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openStore } from '../../src/store/index.js'
import { buildCli, type CliHome, cliEnvironment, cliHome, echo, reeveCommand } from './built-cli.js'

/** A `reeve serve --stdio` of its own, spoken with in lines. */
class Served {
  readonly child: ChildProcess
  readonly #lines: AsyncIterator<string>
  #id = 0

  constructor(folder: string, shell?: string) {
    const { command, args } = reeveCommand('serve', '--stdio')
    const [program, ...rest] = shell === undefined ? [command, ...args] : ['sh', '-c', shell, command, command, ...args]
    const env = cliEnvironment(folder)
    const child = spawn(program ?? command, rest, { cwd: folder, env, stdio: ['pipe', 'pipe', 'ignore'] })
    this.child = child
    this.#lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  }

  async open(): Promise<this> {
    const clientInfo = { name: 'test', version: '1' }
    await this.request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo })
    this.#say({ method: 'notifications/initialized' })
    return this
  }

  async call(message: string): Promise<string> {
    return JSON.stringify(await this.request('tools/call', { name: 'echo__echo', arguments: { message } }))
  }

  async request(method: string, params: object): Promise<unknown> {
    this.#id += 1
    const id = this.#id
    this.#say({ id, method, params })
    for (;;) {
      const { value, done } = await this.#lines.next()
      if (done === true) throw new Error(`no answer to ${method}`)
      const answer: { id?: unknown; result?: unknown; error?: unknown } = JSON.parse(value)
      if (answer.id === id) return answer.result ?? answer.error
    }
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return
    const ended = once(this.child, 'exit')
    this.child.kill(signal)
    await ended
  }

  #say(message: object): void {
    this.child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }
}

let home: CliHome
const running: Served[] = []
beforeAll(buildCli)
beforeEach(async () => {
  home = await cliHome({ echo: echo('--only-echo') })
})
afterEach(async () => {
  for (const one of running.splice(0)) await one.end('SIGKILL')
  await home[Symbol.asyncDispose]()
})

async function serve(shell?: string): Promise<Served> {
  const served = new Served(home.folder, shell)
  running.push(served)
  return served.open()
}

function recorded() {
  using store = openStore(join(home.folder, 'state.sqlite'))
  return store.audit.query({ limit: 1_000_000 })
}

describe('the records of processes', () => {
  it('are all there when two of one home were ended by SIGTERM after their last answer', async () => {
    const both = await Promise.all([serve(), serve()])
    for (let call = 0; call < 150; call++) await Promise.all(both.map((one) => one.call(`message ${call}`)))
    await Promise.all(both.map((one) => one.end('SIGTERM')))
    const records = recorded()
    expect(records).toHaveLength(300)
    expect(new Set(records.map(({ threadId }) => threadId)).size).toBe(2)
    expect(new Set(records.map(({ callId }) => callId)).size).toBe(300)
  })

  it('are there before each answer in strict mode, though the process is killed', async () => {
    await appendFile(join(home.folder, 'config.toml'), '\n[audit]\nmode = "strict"\n')
    const served = await serve()
    for (let call = 0; call < 20; call++) await served.call(`message ${call}`)
    await served.end('SIGKILL')
    expect(recorded()).toHaveLength(20)
  })

  it('are whole, and the rest is answered all the same, when the disk takes no more', async () => {
    await appendFile(join(home.folder, 'config.toml'), '\n[audit]\narguments = "whole"\n')
    const served = await serve('ulimit -f 1200; exec "$@"')
    const long = 'x'.repeat(50_000)
    for (let call = 0; call < 30; call++) expect(await served.call(long + call)).toContain(`x${call}"`)
    await served.end('SIGTERM')
    const records = recorded()
    expect(records.length).toBeLessThan(30)
    for (const record of records) expect(record).toMatchObject({ tool: 'echo', outcome: 'ok', server: 'echo' })
  })
})
