// What recording calls costs: the same echo tool of the same stdio server, called through a thread of the library and
// through the gateway, with `[audit] mode` off, on and strict, in turns in one run; and off a second time, which shows
// what the machine alone makes of two equal systems.
//   npm run bench -- audit [--quick] [--json] [--rounds N] [--only thread,gateway]
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { setUp } from '../scripts/setup.mjs'
import { PATHS } from './audit-paths.mjs'
import { readTurns } from './options.mjs'
import { grid, machine, ranged } from './report.mjs'
import { percentile, spread } from './statistics.mjs'

const USAGE = `npm run bench -- audit [--quick] [--json] [--rounds N] [--only NAME,NAME]
  --quick        shorter and fewer blocks: shapes, not figures
  --json         the result as JSON on stdout instead of tables
  --rounds N     how often each mode has its block (7, quick: 3)
  --only A,B     of: ${Object.keys(PATHS).join(', ')}`
const MODES = { off: 'off', on: 'on', strict: 'strict', control: 'off' }
const IN_FLIGHT = [1, 16, 64]
const BASE = 'off'
/** Milliseconds until the last batch of a block is written: its CPU time belongs to the block. */
const SETTLE_MS = 300

export async function runAuditBench(args) {
  const options = readTurns(args, { usage: USAGE, names: Object.keys(PATHS) })
  const blockMs = options.quick ? 150 : 600
  await setUp({ demo: false })
  const paths = []
  for (const name of options.only) paths.push({ name, rows: await measure(PATHS[name], { ...options, blockMs }) })
  const summary = { machine: machine(), rounds: options.rounds, blockMs, paths }
  console.log(options.json ? JSON.stringify(summary, null, 2) : auditMarkdown(summary))
}

/** Everything is up the whole time; each mode has a block a round, and each round begins with another. */
async function measure(open, { rounds, blockMs }) {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-bench-audit-'))
  const names = Object.keys(MODES)
  const opened = new Map()
  try {
    for (const name of names) opened.set(name, await open(MODES[name], join(folder, name)))
    for (const name of names) for (const inFlight of IN_FLIGHT) await block(opened.get(name), inFlight, blockMs)
    const figures = new Map(IN_FLIGHT.map((inFlight) => [inFlight, []]))
    for (const inFlight of IN_FLIGHT) {
      for (let round = 0; round < rounds; round += 1) {
        const shift = round % names.length
        const found = {}
        for (const name of [...names.slice(shift), ...names.slice(0, shift)])
          found[name] = await block(opened.get(name), inFlight, blockMs)
        figures.get(inFlight).push(found)
      }
      console.error(`${inFlight} in flight: ${rounds} rounds`)
    }
    return [...figures].flatMap(([inFlight, found]) => names.map((name) => rowOf(name, inFlight, found)))
  } finally {
    for (const { close } of opened.values()) await close()
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Calls for `ms` milliseconds. */
async function block({ call, cpuMicroseconds }, inFlight, ms) {
  const latencies = []
  const cpuBefore = await cpuMicroseconds()
  const began = performance.now()
  const lane = async () => {
    while (performance.now() - began < ms) {
      const before = performance.now()
      await call(`message ${latencies.length}`)
      latencies.push(performance.now() - before)
    }
  }
  await Promise.all(Array.from({ length: inFlight }, lane))
  const seconds = (performance.now() - began) / 1000
  await sleep(SETTLE_MS)
  const cpu = ((await cpuMicroseconds()) - cpuBefore) / latencies.length
  const [p50, p99] = [50, 99].map((percent) => percentile(latencies, percent) * 1000)
  return { p50, p99, perSecond: latencies.length / seconds, cpu }
}

/** `ratios` are taken inside a round, so that a busy minute hits both sides. */
function rowOf(name, inFlight, rounds) {
  const over = (value) => spread(rounds.map(value))
  const measures = ['p50', 'p99', 'perSecond', 'cpu']
  return {
    mode: name,
    inFlight,
    ...Object.fromEntries(measures.map((one) => [one, over((round) => round[name][one])])),
    ratios: Object.fromEntries(measures.map((one) => [one, over((round) => round[name][one] / round[BASE][one])])),
  }
}

export function auditMarkdown({ machine: m, rounds, blockMs, paths }) {
  const where = `${m.cores} cores of ${m.cpu}, ${m.memoryGiB} GiB, ${m.system}, Node ${m.node}.`
  const head = `${where} ${rounds} rounds in turns,\nblocks of ${blockMs} ms. Median (lowest–highest round).`
  return [head, ...paths.map(tableOf)].join('\n\n')
}

const COMPARED = { p50: 'p50 to off', p99: 'p99 to off', perSecond: 'calls/s to off', cpu: 'CPU to off' }

function tableOf({ name, rows }) {
  const titles = [`${name}: in flight`, 'audit', 'p50 µs', 'CPU µs a call', ...Object.values(COMPARED)]
  const lines = rows.map(({ mode, inFlight, p50, cpu, ratios }) => [
    inFlight,
    mode === 'control' ? 'off, again' : mode,
    ranged(p50),
    ranged(cpu, 1),
    ...Object.keys(COMPARED).map((one) => ranged(ratios[one], 2)),
  ])
  return grid([titles, ...lines])
}
