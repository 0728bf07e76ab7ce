import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { eventually } from '../fixtures/stdio/running.js'
import { BrokerHome, type RunOptions } from './broker/home.js'
import { buildCli } from './built-cli.js'

let home: BrokerHome
beforeAll(buildCli)
beforeEach(async () => {
  home = await BrokerHome.make()
})
afterEach(() => home[Symbol.asyncDispose]())

describe('a verb', () => {
  it.each([
    ['calls a tool', ['call', 'notes', 'add', 'a=1', 'b=2']],
    ['gives whole results', ['--json', 'call', 'notes', 'media', 'unknown=true']],
    ['tells that a tool failed', ['call', 'notes', 'fails', 'message=no']],
    ['tells a JSON-RPC error whole', ['--json', 'call', 'notes', 'rpc_error', 'code=-32042', 'message=visit']],
    ['names an unknown tool', ['call', 'notes', 'ecko']],
    ['names an unknown server', ['--json', 'call', 'note', 'echo']],
    ['lists resources and templates', ['--json', 'resources']],
    ['reads a resource', ['read', 'notes', 'echo://greeting']],
    ['names a resource that is not there', ['--json', 'read', 'notes', 'echo://nothing']],
    ['lists prompts', ['--json', 'prompts', 'notes']],
    ['gets a prompt', ['prompt', 'notes', 'review', 'file=a.ts']],
    ['gives up in time', ['call', 'notes', 'hang', '--timeout', '0.2']],
    ['refuses what nobody can approve', ['--json', 'call', 'asked', 'echo', 'message=x']],
    ['takes an approval', ['call', 'asked', 'echo', 'message=x', '--yes']],
    ['tells why a server failed', ['--json', 'call', 'gone', 'echo']],
  ])('%s in the broker as it does without', async (_what, args) => {
    await configureAll()
    const [own, brokered] = [await home.reeve(['--private', ...args]), await home.reeve(args)]
    expect(home.brokers()).toHaveLength(1)
    expect(brokered).toEqual(own)
  })

  it('lists the tools that it does not know yet in the broker as it does without', async () => {
    await configureAll()
    const fresh = await home.reeve(['--json', '--private', 'tools', '--refresh'])
    await home.configure({ notes: ['--server-version', '2'] })
    const brokered = await home.reeve(['--json', 'tools'])
    const ofNotes = ({ stdout }: { stdout: string }) =>
      (JSON.parse(stdout) as { tools: { server: string; cached: boolean }[] }).tools.filter(
        ({ server }) => server === 'notes',
      )
    expect(ofNotes(brokered).every(({ cached }) => !cached)).toBe(true)
    expect(ofNotes(brokered)).toEqual(ofNotes(fresh))
    expect(home.brokers()).toHaveLength(1)
  })

  it('shows the state of each server in the broker as it does without', async () => {
    await configureAll()
    const rows = async (...options: string[]) => {
      const { stdout, code } = await home.reeve([...options, '--json', 'status'])
      const { servers } = JSON.parse(stdout) as { servers: { since: string }[] }
      return { code, servers: servers.map(({ since: _, ...row }) => row) }
    }
    expect(await rows()).toEqual(await rows('--private'))
  })

  it('shows progress of a call in the broker', async () => {
    const { stderr } = await home.reeve(['call', 'notes', 'progress', 'steps=2', 'ms=1'])
    expect(stderr).toMatch(/progress {2}1\/2[\s\S]*progress {2}2\/2/)
  })

  it.each([
    ['Ctrl-C', 'SIGINT', { code: 130, signal: null }],
    ['a kill', 'SIGKILL', { code: null, signal: 'SIGKILL' }],
  ] as const)('takes its call with it at %s, and leaves the server to others', async (_what, signal, end) => {
    const program = home.start(['call', 'notes', 'hang'])
    await eventually(() => expect(home.recorded('notes')).toContain('"hang"'))
    const servers = home.servers()
    program.child.kill(signal)
    expect(await program.exited).toEqual(end)
    await eventually(() => expect(home.recorded('notes')).toContain('notifications/cancelled'))
    expect(home.servers()).toEqual(servers)
  })

  async function configureAll(): Promise<void> {
    await home.configure({ notes: [] })
    await home.add('asked', { default_tools_approval_mode: 'prompt' })
    await home.add('gone', { command: 'no-such-program-anywhere' })
  }
})

describe('variables', () => {
  const pid = async (options: RunOptions = {}) => {
    const { stdout, stderr } = await home.reeve(['call', 'notes', 'process'], options)
    if (stdout === '') throw new Error(stderr)
    return Number(JSON.parse(stdout).pid)
  }

  it('that a server gets make it another server, and others do not', async () => {
    await home.configure({ notes: [] }, { env_vars: ['TOKEN'] })
    const first = await pid({ env: { TOKEN: 'one' } })
    expect(await pid({ env: { TOKEN: 'one' } })).toBe(first)
    expect(await pid({ env: { TOKEN: 'one', UNRELATED: 'x' } })).toBe(first)
    expect(await pid({ env: { TOKEN: 'two' } })).not.toBe(first)
    expect(await pid({ env: { TOKEN: 'one', LANG: 'tlh' } })).not.toBe(first)
    expect(await pid({ env: { TOKEN: 'one', TERM: 'xterm-256color' } })).toBe(first)
    const { stdout } = await home.reeve(['call', 'notes', 'env', 'name=TOKEN'], { env: { TOKEN: 'two' } })
    expect(stdout).toContain('two')
  })

  it('of the client that started the broker reach no server of another', async () => {
    await home.configure({ notes: [] }, { env_vars: ['TOKEN'] })
    await pid({ env: { TOKEN: 'of the first' } })
    const { stdout } = await home.reeve(['call', 'notes', 'env'])
    expect(stdout).not.toContain('of the first')
    expect(stdout).not.toContain('REEVE')
  })

  it('decide with the working directory which servers are shared', async () => {
    const here = await pid()
    expect(await pid({ cwd: '/' })).not.toBe(here)
    expect(await pid()).toBe(here)
  })
})

describe('configuration', () => {
  it('counts as it stands when a client comes, and servers that did not change keep running', async () => {
    const pid = async (server: string) => JSON.parse((await home.reeve(['call', server, 'process'])).stdout).pid
    const notes = await pid('notes')
    await home.configure({ notes: [], more: [] })
    expect(await pid('more')).toBeGreaterThan(0)
    expect(await pid('notes')).toBe(notes)
    await home.configure({ notes: ['--tools', '1'], more: [] })
    expect(await pid('notes')).not.toBe(notes)
  })

  it('is told to be wrong by every client that has it', async () => {
    await home.add('broken', { command: 7 })
    for (const _ of [1, 2]) {
      const { stderr, code } = await home.reeve(['call', 'notes', 'echo', 'message=x'])
      expect(stderr).toContain('broken')
      expect(code).toBe(1)
    }
  })
})
