// Wall time of `reeve call` against `node -e 0`, in turns on the same machine: with the broker and the server up (warm),
// with neither (cold: the broker is started, and the server), and without a broker (`--private`). And what a client pays
// that starts `reeve serve --stdio`: the time to its first answer, and the memory of that process.
//   node bench/broker-call.mjs [--runs N] [--json]
import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { percentile } from './statistics.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const REEVE = join(root, 'dist', 'cli', 'reeve.js')
const ECHO = join(root, 'test', 'fixtures', 'stdio', 'echo.mjs')

/** @returns {Promise<{ runs: number, rows: { name: string, p10: number, p50: number, p90: number, ratio: number, rss?: number }[] }>} */
export async function measureBroker(runs) {
  const home = mkdtempSync(join(tmpdir(), 'reeve-broker-bench-'))
  const table = `[mcp_servers.echo]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify([ECHO])}\n`
  writeFileSync(join(home, 'config.toml'), table)
  const call = ['call', 'echo', 'echo', 'message=hi']
  const stop = () => timed(home, [REEVE, 'broker', 'stop'])
  const measures = {
    'node -e 0': () => timed(home, ['-e', '0']),
    'reeve call, broker warm': () => timed(home, [REEVE, ...call], 'hi\n'),
    'reeve call --private': () => timed(home, [REEVE, '--private', ...call], 'hi\n'),
    'reeve serve --stdio, first answer, warm': () => firstAnswer(home, [REEVE, 'serve', '--stdio']),
    'reeve --private serve --stdio, first answer': () => firstAnswer(home, [REEVE, '--private', 'serve', '--stdio']),
  }
  const samples = Object.fromEntries([...Object.keys(measures), 'reeve call, broker cold'].map((name) => [name, []]))
  try {
    for (const measure of Object.values(measures)) await measure()
    for (let run = 0; run < runs; run += 1) {
      for (const [name, measure] of Object.entries(measures)) samples[name].push(await measure())
    }
    for (let run = 0; run < runs; run += 1) {
      await stop()
      samples['reeve call, broker cold'].push(await timed(home, [REEVE, ...call], 'hi\n'))
    }
  } finally {
    await stop()
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  }
  return { runs, rows: rowsOf(samples) }
}

function rowsOf(samples) {
  const base = percentile(
    samples['node -e 0'].map(({ ms }) => ms),
    50,
  )
  return Object.entries(samples).map(([name, measured]) => {
    const times = measured.map(({ ms }) => ms)
    const [p10, p50, p90] = [10, 50, 90].map((percent) => percentile(times, percent))
    const rss = measured.every((sample) => sample.rss !== undefined)
      ? percentile(
          measured.map((sample) => sample.rss),
          50,
        )
      : undefined
    return { name, p10, p50, p90, ratio: p50 / base, ...(rss !== undefined && { rss }) }
  })
}

function environment(home) {
  return { PATH: process.env.PATH, HOME: home, REEVE_HOME: home }
}

function timed(home, args, expected) {
  return new Promise((resolve, reject) => {
    const start = performance.now()
    execFile(process.execPath, args, { env: environment(home), cwd: home }, (error, stdout, stderr) => {
      const ms = performance.now() - start
      if (error) reject(new Error(`node ${args.join(' ')}: ${error.message}\n${stderr}`))
      else if (expected !== undefined && stdout !== expected) reject(new Error(`${args.join(' ')} printed ${stdout}`))
      else resolve({ ms })
    })
  })
}

/** From the start of the process to the answer to `initialize` and a call; then what the process weighs. */
async function firstAnswer(home, args) {
  const start = performance.now()
  const child = spawn(process.execPath, args, { env: environment(home), cwd: home, stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = new Promise((resolve) => child.once('close', resolve))
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const say = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } }
  say({ id: 1, method: 'initialize', params })
  const answer = JSON.parse((await lines.next()).value)
  const ms = performance.now() - start
  if (answer.result?.serverInfo === undefined) throw new Error(`no answer to initialize: ${JSON.stringify(answer)}`)
  say({ method: 'notifications/initialized' })
  say({ id: 2, method: 'tools/call', params: { name: 'echo__echo', arguments: { message: 'hi' } } })
  while (JSON.parse((await lines.next()).value).id !== 2);
  const rss = Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]) / 1024
  child.stdin.end()
  await ended
  return { ms, rss }
}

/** The rows as lines of text. */
export function brokerLines({ runs, rows }) {
  const cells = ({ name, p50, p10, p90, ratio, rss }) => [
    name.padEnd(44),
    ...[p50, p10, p90].map((ms) => ms.toFixed(0).padStart(5)),
    `${ratio.toFixed(2).padStart(6)}×`,
    rss === undefined ? '' : `${rss.toFixed(0).padStart(5)} MB`,
  ]
  return [
    `${runs} runs each, in turns, Node ${process.versions.node}`,
    `${'ms'.padEnd(44)}   p50  p10  p90  node -e 0   RSS`,
    ...rows.map((row) => cells(row).join('').trimEnd()),
  ]
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: { runs: { type: 'string', default: '20' }, json: { type: 'boolean', default: false } },
  })
  const found = await measureBroker(Number(values.runs))
  console.log(values.json ? JSON.stringify(found) : brokerLines(found).join('\n'))
}
