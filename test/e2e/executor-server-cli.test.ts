import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Program } from '../clients/program.js'
import { buildCli, cliHome } from './built-cli.js'
import { connectExecutor, ended, nodeProcess, outputOf } from './executor-client.js'

beforeAll(buildCli, 300_000)

const firstLine = (program: Program): Promise<string> =>
  new Promise((resolve, reject) => {
    createInterface({ input: program.child.stdout }).once('line', resolve)
    program.exited.then(() => reject(new Error(`ended first:\n${program.stderr()}`)), reject)
  })

const FAMILY = `
const child = require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
console.log(JSON.stringify([process.pid, child.pid])); setInterval(() => {}, 1000)`

async function withFamily(url: string) {
  const client = await connectExecutor(url)
  await client.greet()
  await client.ask('process/start', nodeProcess('p', FAMILY))
  await client.when(() => outputOf(client, 'p').includes(']'))
  const pids: readonly number[] = JSON.parse(outputOf(client, 'p'))
  return { client, pids }
}

describe('reeve executor', () => {
  it.each([
    ['Ctrl-C', 'SIGINT', 130],
    ['SIGTERM', 'SIGTERM', 143],
  ] as const)('leaves nobody behind at %s', async (_, signal, code) => {
    await using home = await cliHome()
    const program = home.start(['executor'])
    const url = await firstLine(program)
    expect(url).toMatch(/^ws:\/\/127\.0\.0\.1:\d+$/)
    const { client, pids } = await withFamily(url)
    process.kill(program.child.pid ?? 0, signal)
    expect((await program.exited).code).toBe(code)
    await Promise.all(pids.map(ended))
    await client.closed
  })

  it('leaves nobody behind when it is killed itself', async () => {
    await using home = await cliHome()
    const program = home.start(['executor'])
    const { pids } = await withFamily(await firstLine(program))
    process.kill(program.child.pid ?? 0, 'SIGKILL')
    await Promise.all(pids.map(ended))
  })

  it('serves one client on stdio, and ends with it', async () => {
    await using home = await cliHome()
    const program = home.start(['executor', '--listen', 'stdio'])
    const lines = createInterface({ input: program.child.stdout })[Symbol.asyncIterator]()
    const next = async () => JSON.parse((await lines.next()).value)
    const send = (message: object) => program.child.stdin.write(`${JSON.stringify(message)}\n`)
    send({ id: 1, method: 'initialize', params: { clientName: 'test' } })
    expect(await next()).toMatchObject({ id: 1, result: { sessionId: expect.any(String) } })
    send({ method: 'initialized' })
    send({ id: 2, method: 'process/start', params: nodeProcess('p', FAMILY) })
    const messages = [await next(), await next()]
    const told = messages.find(({ method }) => method === 'process/output')
    const pids: readonly number[] = JSON.parse(Buffer.from(told.params.chunk, 'base64').toString())
    program.child.stdin.end()
    expect((await program.exited).code).toBe(0)
    await Promise.all(pids.map(ended))
  })

  it.each([
    ['breaks the protocol', '{"method":"initialized"}\n'],
    ['sends a line over the limit', 'x'.repeat(65 * 1024 * 1024)],
  ])('ends on stdio with a client that %s', async (_, text) => {
    await using home = await cliHome()
    const program = home.start(['executor', '--listen', 'stdio'])
    program.child.stdin.write(text)
    expect((await program.exited).code).toBe(0)
  })

  it('tells when its port is taken', async () => {
    await using home = await cliHome()
    const url = await firstLine(home.start(['executor']))
    const { code, stderr } = await home.reeve(['executor', '--listen', url])
    expect(code).toBeGreaterThan(0)
    expect(stderr).toContain('the port is taken')
  })

  it('asks for the token that its file holds', async () => {
    await using home = await cliHome()
    await writeFile(join(home.folder, 'token'), 'right\n')
    const program = home.start(['executor', '--ws-auth', 'capability-token', '--ws-token-file', 'token'])
    const url = await firstLine(program)
    await expect(connectExecutor(url, { authorization: 'Bearer wrong' })).rejects.toThrow('401')
    await using client = await connectExecutor(url, { authorization: 'Bearer right' })
    expect(await client.greet()).toMatch(/-/)
  })

  it.each([
    ['an open listener', ['--listen', 'ws://0.0.0.0:0'], /--ws-auth/],
    ['a host name', ['--listen', 'ws://localhost:0'], /ws:\/\/IP:PORT/],
    ['a path', ['--listen', 'ws://127.0.0.1:0/x'], /ws:\/\/IP:PORT/],
    ['another scheme', ['--listen', 'wss://127.0.0.1:0'], /ws:\/\/IP:PORT/],
    ['a token without a way', ['--ws-token-sha256', 'a'.repeat(64)], /--ws-auth/],
    ['an unknown way', ['--ws-auth', 'none'], /capability-token/],
    ['a way without a token', ['--ws-auth', 'capability-token'], /--ws-token-file/],
    ['a broken digest', ['--ws-auth', 'capability-token', '--ws-token-sha256', 'abc'], /64/],
    ['a missing file', ['--ws-auth', 'capability-token', '--ws-token-file', 'nope'], /ENOENT/],
    ['an empty token', ['--ws-auth', 'capability-token', '--ws-token-file', 'empty'], /empty/],
    ['a short secret', ['--ws-auth', 'signed-bearer-token', '--ws-shared-secret-file', 'empty'], /32 bytes/],
    [
      'auth on stdio',
      ['--listen', 'stdio', '--ws-auth', 'capability-token', '--ws-token-sha256', 'a'.repeat(64)],
      /stdio/,
    ],
  ])('refuses %s', async (_, args, message) => {
    await using home = await cliHome()
    await writeFile(join(home.folder, 'empty'), '\n')
    const { code, stderr, stdout } = await home.reeve(['executor', ...args])
    expect(code).toBeGreaterThan(0)
    expect(stderr).toMatch(message)
    expect(stdout).toBe('')
  })
})
