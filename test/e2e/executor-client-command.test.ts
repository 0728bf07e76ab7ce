import { afterEach, describe, expect, it } from 'vitest'
import {
  commandConnector,
  createHttpClient,
  ExecutorEnvironment,
  LocalEnvironment,
} from '../../src/environments/index.js'
import { environmentId } from '../../src/identity/index.js'
import { reading } from '../fixtures/executor/reading.js'
import { failure, get, text } from '../fixtures/http/plain.js'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** An environment whose command runs `code` for each line: `m` is the message, `say` answers. */
function piped(code: string, start = '') {
  const host = new LocalEnvironment({ http: createHttpClient({ env: {} }), termGraceMs: 200 })
  closing.push(() => host.close())
  const script = `
    const say = (message) => process.stdout.write(JSON.stringify(message) + '\\n')
    const usual = (m) => {
      if (m.method === 'initialize') say({ id: m.id, result: { sessionId: 's', environmentInfo: { shell: { name: 'sh', path: '/bin/sh' } } } })
      else if (m.id !== undefined) say({ id: m.id, result: { status: 'accepted', processId: m.params?.processId, running: true } })
    }
    ${start}
    require('readline').createInterface({ input: process.stdin }).on('line', (line) => { const m = JSON.parse(line); ${code} })`
  const environment = new ExecutorEnvironment({
    id: environmentId('piped'),
    connector: commandConnector({
      environment: 'piped',
      host,
      program: process.execPath,
      args: ['-e', script],
      env: { PATH: process.env.PATH ?? '' },
      cwd: '/',
    }),
    initializeMs: 3000,
    times: { graceMs: 100, killWaitMs: 300, recoveringWaitMs: 200 },
  })
  closing.push(() => environment.close())
  return { environment, host }
}
const NOTES = { program: 'notes', args: [], env: {}, cwd: '/', label: 'notes' }

describe('a command that should be an executor', () => {
  it.each([
    ['prints something else', "console.log('Welcome to devbox')"],
    ['ends at once', 'process.exit(255)'],
    ['prints bytes that are no text', 'process.stdout.write(Buffer.from([255, 10]))'],
  ])('%s: it is unreachable, with the reason, and nothing is left', async (_what, start) => {
    const { environment, host } = piped('', start)
    const error = await failure(environment.info())
    expect(error).toMatchObject({ code: 'environment_unreachable', data: { environment: 'piped' } })
    expect(environment.state.is).toBe('failed')
    await expect.poll(() => host.running).toBe(0)
  })

  it('is not there: the error names it', async () => {
    const host = new LocalEnvironment({ http: createHttpClient({ env: {} }) })
    closing.push(() => host.close())
    const connector = commandConnector({ environment: 'piped', host, program: '/no/ssh', args: [], env: {}, cwd: '/' })
    const environment = new ExecutorEnvironment({ id: environmentId('piped'), connector })
    expect(await failure(environment.info())).toMatchObject({ code: 'environment_unreachable', place: '/no/ssh' })
    await environment.close()
  })

  it('ends in the middle of work: that is lost at once, and the next start has a new command', async () => {
    const { environment } = piped("if (m.method === 'process/write') process.exit(1); usual(m)")
    const running = await environment.spawn(NOTES)
    expect(await failure(running.write('x'))).toMatchObject({ code: 'environment_lost' })
    expect((await running.exited).failure).toMatchObject({ code: 'environment_lost' })
    await environment.spawn(NOTES)
  })

  it('has a process of its own for each server: one that hangs holds up no other', async () => {
    const { environment, host } = piped(`
      if (m.method === 'process/write' && m.params.chunk === 'aGFuZw==') for (;;) {}
      if (m.method === 'process/write') say({ method: 'process/output', params: { processId: m.params.processId, seq: 1, stream: 'stdout', chunk: m.params.chunk } })
      usual(m)`)
    const [stuck, fine] = await Promise.all([environment.spawn(NOTES), environment.spawn(NOTES)])
    const hanging = failure(stuck.write('hang'))
    const said = reading(fine)
    await fine.write('on\n')
    await said.until('on')
    await environment.close()
    expect(await hanging).toMatchObject({ code: expect.any(String) })
    expect(host.running).toBe(0)
  })

  it('floods a body that nobody reads: the exchange fails before memory does', async () => {
    const { environment, host } = piped(`
      if (m.method !== 'http/request') usual(m)
      else {
        say({ id: m.id, result: { status: 200, headers: [], bodyBase64: '' } })
        const deltaBase64 = Buffer.alloc(1 << 20).toString('base64')
        for (let seq = 1; seq <= 20; seq++)
          say({ method: 'http/request/bodyDelta', params: { requestId: m.params.requestId, seq, deltaBase64, done: false } })
      }`)
    const response = await environment.http.request(get('http://web.test/'))
    // The connection of the exchange ends; the one that watches the executor stays.
    await expect.poll(() => host.running, { timeout: 20_000 }).toBe(1)
    expect(await failure(text(response))).toMatchObject({ code: 'limit_exceeded' })
  })
})
