// Wall time of `reeve tools --json` with a whole catalog in the cache, against `node -e 0`, in turns on the same machine:
//   node bench/cold-list.mjs [--runs N] [--servers N] [--tools N] [--json]
// Ends with code 1 when the list is slower than the target, is not whole, or started a server.
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { percentile } from './statistics.mjs'

/** At most this many times `node -e 0`. */
const TARGET = 3
const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '25' },
    servers: { type: 'string', default: '20' },
    tools: { type: 'string', default: '50' },
    json: { type: 'boolean', default: false },
  },
})

const home = mkdtempSync(join(tmpdir(), 'reeve-cold-'))
try {
  const found = await measure(home, Number(values.servers), Number(values.tools), Number(values.runs))
  if (values.json) console.log(JSON.stringify(found))
  else print(found)
  process.exitCode = found.ratio <= TARGET ? 0 : 1
} finally {
  rmSync(home, { recursive: true, force: true })
}

async function measure(home, servers, tools, runs) {
  const started = join(home, 'started')
  writeFileSync(join(home, 'config.toml'), configOf(servers, tools, started))
  const list = [join(root, 'dist', 'cli', 'reeve.js'), 'tools', '--json']
  await timed(list, home)
  if (!existsSync(started)) throw new Error('the first listing started nothing: the runs would prove nothing')
  rmSync(started)
  const node = []
  const reeve = []
  for (let run = 0; run < runs; run += 1) {
    node.push((await timed(['-e', '0'], home)).ms)
    const { ms, stdout } = await timed(list, home)
    const listed = JSON.parse(stdout).tools.length
    if (listed !== servers * tools) throw new Error(`${listed} tools listed instead of ${servers * tools}`)
    reeve.push(ms)
  }
  if (existsSync(started)) throw new Error('a listing from the cache started a server')
  return { servers, tools, runs, node: spread(node), reeve: spread(reeve), ratio: spread(reeve).p50 / spread(node).p50 }
}

function configOf(servers, tools, started) {
  const echo = join(root, 'test', 'fixtures', 'stdio', 'echo.mjs')
  const args = ['--only-echo', '--tools', String(tools - 1), '--record', started]
  return Array.from({ length: servers }, (_, index) => {
    const all = [echo, '--name', `server-${index}`, ...args]
    return `[mcp_servers.server-${index}]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify(all)}\n`
  }).join('\n')
}

function timed(args, home) {
  // The first listing starts servers: in a broker they would outlive the measurement.
  const env = { PATH: process.env.PATH, HOME: home, REEVE_HOME: home, REEVE_NO_BROKER: '1' }
  return new Promise((resolve, reject) => {
    const start = process.hrtime.bigint()
    execFile(process.execPath, args, { env, cwd: home, maxBuffer: 2 ** 28 }, (error, stdout, stderr) => {
      const ms = Number(process.hrtime.bigint() - start) / 1e6
      if (error) reject(new Error(`node ${args.join(' ')}: ${error.message}\n${stderr}`))
      else resolve({ ms, stdout })
    })
  })
}

function spread(samples) {
  return { p10: percentile(samples, 10), p50: percentile(samples, 50), p90: percentile(samples, 90) }
}

function print({ servers, tools, runs, node, reeve, ratio }) {
  const row = (name, { p10, p50, p90 }) => `${name}  ${[p50, p10, p90].map((ms) => ms.toFixed(0).padStart(5)).join('')}`
  console.log(
    `${servers} servers × ${tools} tools from the cache, ${runs} runs in turns, Node ${process.versions.node}`,
  )
  console.log('ms                      p50  p10  p90')
  console.log(row('node -e 0           ', node))
  console.log(row('reeve tools --json  ', reeve))
  console.log(`ratio ${ratio.toFixed(2)} (target: at most ${TARGET})`)
}
