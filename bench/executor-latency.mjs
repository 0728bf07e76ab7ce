// What an executor adds to one MCP call: the same echo server, called one at a time, on this host and through executors.
// `measureExecutorLatency` needs a built dist/ and, for the real executor, the peer `codex`.
import { existsSync, readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort, startProcess } from './processes.mjs'
import { grid, machine, ranged } from './report.mjs'
import { percentile, spread } from './statistics.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const ECHO = join(root, 'test', 'fixtures', 'stdio', 'echo.mjs')
const LABEL = 'echo'
const READY_MS = 30_000

/** How executors are started: the arguments that come before `--listen URL`. */
const EXECUTORS = {
  ours: {
    title: 'reeve executor',
    command: () => [process.execPath, join(root, 'dist', 'cli', 'reeve.js'), 'executor'],
  },
  codex: { title: 'codex exec-server', command: () => [codexBinary(), 'exec-server'] },
}

/**
 * name → `{ title, executor?, slow? }`. `slow`: every call may take 44 ms, so fewer of them are made (reference:
 * executor-protocol, 17).
 */
const PATHS = {
  host: { title: 'pipe on this host (floor)', open: openHost },
  ...Object.fromEntries(
    Object.entries(EXECUTORS).flatMap(([executor, { title }]) => [
      [`${executor}-stdio`, { title: `${title}, stdio`, executor, open: openStdio }],
      [`${executor}-ws`, { title: `${title}, WebSocket`, executor, open: (at) => openWebSocket(at, true) }],
      [
        `${executor}-ws-silent`,
        { title: `${title}, WebSocket without the pong`, executor, slow: true, open: (at) => openWebSocket(at, false) },
      ],
    ]),
  ),
}

/** The median round trip over a WebSocket on loopback may be this many times the one over the same executor's stdio. */
export const MOST_TIMES = 2

/** What `--only` may name. */
export const EXECUTOR_NAMES = Object.keys(EXECUTORS)

/**
 * Takes turns in rounds, each path started afresh in each.
 *
 * @param {{ rounds?: number, calls?: { warmUp: number, alone: number, slow: number }, only?: readonly string[],
 *   onTurn?: (round: number, title: string, figures: { p50: number, p95: number }) => void }} [options]
 * @returns rounds, and for each path `{ name, title, p50, p95 }` as `{ median, low, high }` in milliseconds; `ratios`: for
 *   each executor the WebSocket's median over its stdio's within one round, with `reached`: whether its median is at most 2
 */
export async function measureExecutorLatency({
  rounds = 7,
  calls = { warmUp: 500, alone: 1000, slow: 60 },
  only = EXECUTOR_NAMES,
  onTurn = () => {},
} = {}) {
  const paths = Object.entries(PATHS).filter(([, { executor }]) => executor === undefined || only.includes(executor))
  const taken = []
  for (let round = 0; round < rounds; round += 1) {
    const figures = new Map()
    const shift = round % paths.length
    for (const [name, path] of [...paths.slice(shift), ...paths.slice(0, shift)]) {
      const turn = await takeTurn(path, calls)
      figures.set(name, turn)
      onTurn(round + 1, path.title, turn)
    }
    taken.push(figures)
  }
  return summarise(paths, taken, only, calls)
}

function summarise(paths, taken, only, calls) {
  const over = (figure) => taken.map(figure)
  return {
    machine: machine(),
    rounds: taken.length,
    calls,
    paths: paths.map(([name, { title }]) => ({
      name,
      title,
      p50: spread(over((figures) => figures.get(name).p50)),
      p95: spread(over((figures) => figures.get(name).p95)),
    })),
    ratios: only.map((executor) => {
      const ratio = (name) => spread(over((figures) => figures.get(name).p50 / figures.get(`${executor}-stdio`).p50))
      const withPong = ratio(`${executor}-ws`)
      return {
        executor,
        title: EXECUTORS[executor].title,
        withPong,
        withoutPong: ratio(`${executor}-ws-silent`),
        reached: withPong.median <= MOST_TIMES,
      }
    }),
  }
}

/** The Markdown that stands in bench/README.md. */
export function latencyMarkdown({ machine: m, rounds, calls, paths, ratios }) {
  const head =
    `${m.cores} cores of ${m.cpu}, ${m.memoryGiB} GiB, ${m.system}, Node ${m.node}. ${rounds} rounds in turns; a round has\n` +
    `${calls.alone} calls of \`echo\` one at a time, ${calls.slow} without the pong. Median (lowest–highest round).`
  const absolute = [
    ['one MCP call over', 'p50 ms', 'p95 ms'],
    ...paths.map(({ title, p50, p95 }) => [title, ranged(p50, 2), ranged(p95, 2)]),
  ]
  const relative = [
    ['WebSocket to stdio of the same executor, p50', 'with the pong', 'without', `at most ${MOST_TIMES}`],
    ...ratios.map(({ title, withPong, withoutPong, reached }) => [
      title,
      ranged(withPong, 2),
      ranged(withoutPong, 2),
      reached ? 'yes' : 'NO',
    ]),
  ]
  return [head, grid(absolute), grid(relative)].join('\n\n')
}

async function takeTurn({ executor, slow = false, open }, { warmUp, alone, slow: few }) {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-bench-'))
  const library = await load()
  const opened = await open({ library, folder, command: executor && EXECUTORS[executor].command() })
  try {
    const client = await connect(library, opened.environment, folder)
    try {
      await callMany(client, slow ? Math.min(warmUp, few) : warmUp)
      const latencies = await callMany(client, slow ? few : alone)
      return { p50: percentile(latencies, 50), p95: percentile(latencies, 95) }
    } finally {
      await client.close()
    }
  } finally {
    await opened.close()
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function callMany(client, count) {
  const latencies = []
  for (let call = 1; call <= count; call += 1) {
    const message = `message ${call}`
    const before = performance.now()
    const { content } = await client.request('tools/call', { name: 'echo', arguments: { message } })
    latencies.push(performance.now() - before)
    if (content?.[0]?.text !== message) throw new Error(`asked for '${message}', got ${JSON.stringify(content)}`)
  }
  return latencies
}

/** An MCP session with a fresh echo server in the environment, over the transport that connections use. */
async function connect({ openStdio }, environment, cwd) {
  const server = { type: 'stdio', command: process.execPath, args: [ECHO, '--only-echo'], env: {}, envVars: [], cwd }
  const options = { server, parentEnv: process.env, platform: process.platform, defaultCwd: cwd, label: LABEL }
  const transport = await openStdio({ environment, ...options })
  const waiting = new Map()
  transport.onmessage = ({ id, result, error }) => {
    const asked = waiting.get(id)
    waiting.delete(id)
    if (error === undefined) asked?.resolve(result)
    else asked?.reject(new Error(error.message))
  }
  transport.onclose = ({ error }) => {
    for (const { reject } of waiting.values()) reject(error ?? new Error('the server ended'))
  }
  await transport.start()
  let lastId = 0
  const request = (method, params) =>
    new Promise((resolve, reject) => {
      lastId += 1
      waiting.set(lastId, { resolve, reject })
      transport.send({ jsonrpc: '2.0', id: lastId, method, params }).catch(reject)
    })
  const clientInfo = { name: 'bench', version: '1' }
  await request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo })
  await transport.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
  return { request, close: () => transport.close() }
}

async function load() {
  const [environments, transports, identity] = await Promise.all(
    ['environments', 'transports', 'identity'].map((room) => import(`../dist/${room}/index.js`)),
  )
  return { ...environments, ...transports, ...identity }
}

async function openHost({ library: { createHttpClient, LocalEnvironment } }) {
  const environment = new LocalEnvironment({ http: createHttpClient() })
  return { environment, close: () => environment.close() }
}

async function openStdio({ library, folder, command: [program, ...args] }) {
  const host = new library.LocalEnvironment({ http: library.createHttpClient() })
  const connector = library.commandConnector({
    environment: LABEL,
    host,
    program,
    args: [...args, '--listen', 'stdio'],
    env: variables(folder),
    cwd: folder,
    onstderr: () => {},
  })
  const environment = new library.ExecutorEnvironment({ id: library.environmentId(LABEL), connector })
  await environment.info()
  const close = async () => {
    await environment.close()
    await host.close()
  }
  return { environment, close }
}

async function openWebSocket({ library, folder, command }, pongs) {
  const url = `ws://127.0.0.1:${await freePort()}`
  const running = startProcess([...command, '--listen', url], { cwd: folder, env: variables(folder) })
  const connector = library.webSocketConnector({ environment: LABEL, url, pongs })
  const environment = new library.ExecutorEnvironment({ id: library.environmentId(LABEL), connector })
  const close = async () => {
    await environment.close()
    await running.stop()
  }
  try {
    await Promise.race([running.failed, answering(environment)])
    return { environment, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Asks until the executor listens. */
async function answering(environment) {
  const deadline = performance.now() + READY_MS
  for (;;) {
    try {
      return await environment.info()
    } catch (error) {
      if (performance.now() > deadline) throw error
      await sleep(20)
    }
  }
}

/** A home of the turn's own. */
function variables(folder) {
  return { PATH: process.env.PATH ?? '', HOME: folder, REEVE_HOME: folder, CODEX_HOME: folder }
}

function codexBinary() {
  const platform = `${process.platform}-${process.arch}`
  const vendor = join(root, '.cache', 'peers', 'codex', 'node_modules', '@openai', `codex-${platform}`, 'vendor')
  const [triple] = existsSync(vendor) ? readdirSync(vendor) : []
  if (triple === undefined) throw new Error('the peer codex is missing: node scripts/install-peers.mjs codex')
  return join(vendor, triple, 'bin', 'codex')
}
