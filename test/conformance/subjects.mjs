// What is put to the test on the server side: a full-feature server, alone or behind the gateway.
import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { ROOT } from './suite.mjs'

const REEVE = join(ROOT, 'dist/cli/reeve.js')
const ENDPOINT = /http:\/\/127\.0\.0\.1:\d+\/mcp/
const READY_MS = 20_000
const STOP_MS = 10_000

const fullServer = (era) => join(ROOT, `test/fixtures/full/server-${era}.mjs`)

/**
 * The server of one era on a free port.
 * @returns {Promise<{ url: string, stop(): Promise<void> }>}
 */
export function startFullServer(era) {
  return startListening('the full-feature server', [fullServer(era), '--http', '127.0.0.1:0'])
}

/**
 * The built gateway in front of that server, its only one, whose names and URIs it passes unchanged.
 * @param {'http' | 'stdio'} upstream how the gateway speaks with the server
 */
export async function startGateway(era, upstream) {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-conformance-'))
  const stops = [() => rm(folder, { recursive: true, force: true, maxRetries: 5 })]
  const stop = async () => {
    for (const each of stops.reverse()) await each()
  }
  try {
    const server = upstream === 'http' ? await startFullServer(era) : undefined
    if (server !== undefined) stops.push(server.stop)
    const entry = server ? { url: server.url } : { command: process.execPath, args: [fullServer(era), '--stdio'] }
    const config = join(folder, 'servers.json')
    await writeFile(config, JSON.stringify({ mcpServers: { full: entry } }))
    const env = { PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, HOME: folder, REEVE_HOME: join(folder, 'home') }
    const args = [REEVE, '--config', config, 'serve', '--http', '127.0.0.1:0', '--no-token', '--transparent']
    const gateway = await startListening('the gateway', args, { cwd: folder, env })
    stops.push(gateway.stop)
    return { url: gateway.url, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Starts a program and waits for the endpoint that it prints. The suite wants it by the name `localhost`. */
async function startListening(what, args, { cwd = ROOT, env = process.env } = {}) {
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] })
  const ended = new Promise((resolve) => child.once('close', (code, signal) => resolve(signal ?? `code ${code}`)))
  child.stdin.on('error', () => undefined)
  const stop = async () => {
    child.stdin.end()
    child.kill('SIGTERM')
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
    await ended
    clearTimeout(timer)
  }
  try {
    const url = await endpointOf(child, what, ended)
    return { url: url.replace('127.0.0.1', 'localhost'), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

function endpointOf(child, what, ended) {
  return new Promise((resolve, reject) => {
    let printed = ''
    const timer = setTimeout(() => reject(new Error(`${what} printed no endpoint:\n${printed}`)), READY_MS)
    const look = (chunk) => {
      printed = (printed + chunk).slice(-8000)
      const [url] = ENDPOINT.exec(printed) ?? []
      if (url === undefined) return
      clearTimeout(timer)
      resolve(url)
    }
    child.once('error', reject)
    child.stdout.on('data', look)
    child.stderr.on('data', look)
    ended.then((how) => {
      clearTimeout(timer)
      reject(new Error(`${what} ended with ${how}:\n${printed}`))
    })
  })
}
