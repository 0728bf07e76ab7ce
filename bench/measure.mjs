// One turn of one system: started, timed until it lists its tool, called alone and together, weighed, stopped.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort, residentMegabytes, startProcess } from './processes.mjs'
import { connectSse } from './sse-client.mjs'
import { percentile } from './statistics.mjs'
import { connectStreamable } from './streamable-client.mjs'

const IN_FLIGHT = [1, 16, 64]
const READY_MS = 30_000
const POLL_MS = 5
const CLIENTS = { streamable: connectStreamable, sse: connectSse }

/**
 * @returns milliseconds `coldStart` (spawn to the first list with the tool), `p50`, `p95`; calls a second `perSecond1`,
 *   `perSecond16`, `perSecond64`; megabytes `rss` (the process) and `rssTree` (with what it started)
 */
export async function takeTurn(system, calls) {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-bench-'))
  const port = await freePort()
  const { command, url, headers, env } = system.start(port, folder)
  const started = performance.now()
  const running = startProcess(command, { cwd: folder, env })
  try {
    const connect = (inFlight) => CLIENTS[system.wire](url, { headers, inFlight })
    const tool = await Promise.race([running.failed, firstList(connect)])
    const coldStart = performance.now() - started
    const weigh = () => residentMegabytes(running.pid)
    const figures = await Promise.race([running.failed, measureCalls(connect, tool, calls, weigh)])
    return { coldStart, ...figures }
  } finally {
    await running.stop()
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Asks again until the server listens and offers the echo tool: its name there. */
async function firstList(connect) {
  const deadline = performance.now() + READY_MS
  for (let last; ; await sleep(POLL_MS)) {
    if (performance.now() > deadline) throw new Error(`no echo tool within ${READY_MS} ms`, { cause: last })
    try {
      const client = await connect(1)
      const { tools } = await client.request('tools/list', {}).finally(client.close)
      const tool = tools.find(({ name }) => name.endsWith('echo'))
      if (tool !== undefined) return tool.name
    } catch (error) {
      last = error
    }
  }
}

/** `weigh` is asked while the session is open: some systems have a child a session. */
async function measureCalls(connect, tool, { warmUp, alone, together }, weigh) {
  const figures = {}
  for (const inFlight of IN_FLIGHT) {
    const client = await connect(inFlight)
    try {
      await callMany(client, tool, warmUp, inFlight)
      const { seconds, latencies } = await callMany(client, tool, inFlight === 1 ? alone : together, inFlight)
      figures[`perSecond${inFlight}`] = latencies.length / seconds
      if (inFlight === 1) Object.assign(figures, { p50: percentile(latencies, 50), p95: percentile(latencies, 95) })
      const resident = weigh()
      Object.assign(figures, { rss: resident?.alone, rssTree: resident?.tree })
    } finally {
      await client.close()
    }
  }
  return figures
}

async function callMany(client, tool, count, inFlight) {
  const latencies = []
  let left = count
  const lane = async () => {
    while (left > 0) {
      left -= 1
      const message = `message ${left}`
      const before = performance.now()
      const { content } = await client.request('tools/call', { name: tool, arguments: { message } })
      latencies.push(performance.now() - before)
      if (content?.[0]?.text !== message) throw new Error(`asked for '${message}', got ${JSON.stringify(content)}`)
    }
  }
  const before = performance.now()
  await Promise.all(Array.from({ length: inFlight }, lane))
  return { seconds: (performance.now() - before) / 1000, latencies }
}
