// What first-party auth for each operation costs a tool call of a real thread, over plain HTTP and over TLS, against a server
// in a process of its own: a configured header, a bearer, a bearer and an assertion, an assertion alone. All in turns.
//   node bench/auth-calls.mjs [--calls N] [--rounds N] [--json]
import { fork } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { build } from 'esbuild'
import { percentile, spread } from './statistics.mjs'

const here = fileURLToPath(import.meta.url)
const WIRES = ['plain', 'tls']
const MODES = ['static', 'off', 'dual_header', 'assertion_only']

if (process.argv[2] === 'serve') await serve()
else await main()

async function main() {
  const { values } = parseArgs({
    options: {
      calls: { type: 'string', default: '400' },
      rounds: { type: 'string', default: '9' },
      json: { type: 'boolean', default: false },
    },
  })
  const rows = await compare(Number(values.calls), Number(values.rounds))
  if (values.json) console.log(JSON.stringify(rows))
  else for (const row of rows) console.log(lineOf(row))
}

/** @returns rows of `{ wire, mode, callMs, added, addedCpu, ratio: { median, low, high } }`; ratios are of each round's own `static` */
async function compare(calls, rounds) {
  const parts = await bundled()
  const folder = await mkdtemp(join(tmpdir(), 'reeve-bench-'))
  const child = fork(here, ['serve'])
  try {
    const ports = await new Promise((resolve) => child.once('message', resolve))
    await writeFile(join(folder, 'ca.pem'), parts.BACKEND_CA)
    const systems = []
    for (const wire of WIRES) systems.push(...(await threadsOf(parts, folder, wire, ports)))
    for (const { call } of systems) await measure(call, calls)
    for (let round = 0; round < rounds; round += 1)
      for (const system of turned(systems, round)) {
        const { median, cpu } = await measure(system.call, calls)
        system.medians.push(median)
        system.cpu.push(cpu)
      }
    for (const { close } of systems) await close()
    return systems.map((system) => rowOf(system, systems))
  } finally {
    child.kill()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Another one first in each round. */
function turned(systems, round) {
  const at = round % systems.length
  return [...systems.slice(at), ...systems.slice(0, at)]
}

async function threadsOf({ Reeve, AuthManager, hostTokensSource, systemClock: clock }, home, wire, ports) {
  const origin = wire === 'tls' ? `https://localhost:${ports.tls}` : `http://127.0.0.1:${ports.plain}`
  const accessToken = tokenOf('acct-1')
  const servers = MODES.map((mode) => {
    const own = `http_headers = { Authorization = "Bearer ${accessToken}", ChatGPT-Account-ID = "acct-1" }`
    return `[mcp_servers.${nameOf(mode)}]\nurl = "${origin}/mcp"\n${mode === 'static' ? own : 'auth = "chatgpt"'}\n`
  })
  const file = join(home, `${wire}.toml`)
  await writeFile(file, servers.join('\n'))
  const places = {
    baseUrl: origin,
    trustedOrigins: [origin],
    registrationUrl: `https://localhost:${ports.tls}/register`,
  }
  const env = { HOME: home, REEVE_HOME: home, REEVE_CA_CERTIFICATE: join(home, 'ca.pem') }
  const reeve = await Reeve.open({ home, env, cwd: home, configFiles: [file], firstParty: { places } })
  const systems = []
  for (const mode of MODES) {
    const auth = await AuthManager.open({
      sources: [],
      clock,
      host: hostTokensSource({ accessToken, accountId: 'acct-1' }),
    })
    const server = nameOf(mode)
    const whose = mode === 'static' ? {} : { auth, runtimeAuthMode: mode }
    const thread = await reeve.startThread({ ...whose, only: [{ server }] })
    const call = () => thread.callTool({ server, tool: 't', arguments: {} })
    systems.push({ wire, mode, medians: [], cpu: [], call, close: () => thread.close() })
  }
  const last = systems.at(-1)
  const closeThread = last.close
  last.close = async () => {
    await closeThread()
    await reeve.close()
  }
  return systems
}

function nameOf(mode) {
  return mode.replace('_', '-')
}

/** As long as the service's own. */
function tokenOf(account) {
  const claims = { exp: 4e9, 'https://api.openai.com/auth': { chatgpt_account_id: account, chatgpt_user_id: 'u' } }
  return ['{}', JSON.stringify({ ...claims, pad: 'x'.repeat(600) }), 'signature']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.')
}

/** Milliseconds: the median of a call, and what each took of this process. */
async function measure(call, calls) {
  const times = []
  const before = process.cpuUsage()
  for (let at = 0; at < calls; at += 1) {
    const from = performance.now()
    await call()
    times.push(performance.now() - from)
  }
  const { user, system } = process.cpuUsage(before)
  return { median: percentile(times, 50), cpu: (user + system) / 1000 / calls }
}

function rowOf({ wire, mode, medians, cpu }, systems) {
  const { medians: base, cpu: baseCpu } = systems.find((one) => one.wire === wire && one.mode === 'static')
  const ratio = spread(medians.map((median, round) => median / base[round]))
  const callMs = spread(medians).median
  const more = (figures, than) => spread(figures.map((figure, round) => figure - than[round])).median
  return { wire, mode, callMs, added: more(medians, base), addedCpu: more(cpu, baseCpu), ratio }
}

function lineOf({ wire, mode, callMs, added, addedCpu, ratio }) {
  const micro = (ms) => (ms * 1000).toFixed(0)
  const spreadText = `${ratio.median.toFixed(3)} (${ratio.low.toFixed(3)}-${ratio.high.toFixed(3)})`
  return `${wire.padEnd(6)} ${mode.padEnd(15)} a call ${micro(callMs)} us, + ${micro(added)} us (${micro(addedCpu)} us of processor), x ${spreadText}`
}

async function serve() {
  const { BACKEND_CERTIFICATE: cert, BACKEND_KEY: key } = await bundled()
  const tls = createTlsServer({ cert, key }, respond)
  const plain = createServer(respond)
  for (const server of [tls, plain]) await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  process.send({ tls: tls.address().port, plain: plain.address().port })
}

const ACTOR = { kind: 'chatgpt', user_id: 'u', account_id: 'acct-1' }
const INSTANCE = { runtime_agent_instance_id: '33333333-3333-4333-8333-333333333333', agent_host_id: 'h', actor: ACTOR }
const RESULTS = {
  initialize: {
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'bench', version: '1' },
  },
  'tools/list': { tools: [{ name: 't', inputSchema: { type: 'object' } }] },
  'tools/call': { content: [{ type: 'text', text: 'done' }] },
}

async function respond(request, response) {
  let body = ''
  for await (const chunk of request) body += chunk
  if (request.url === '/register') return answer(response, INSTANCE)
  const { id, method } = JSON.parse(body || '{}')
  if (id === undefined) return response.writeHead(request.method === 'GET' ? 405 : 202).end()
  const result = RESULTS[method]
  if (result === undefined) return answer(response, { jsonrpc: '2.0', id, error: { code: -32601, message: 'no' } })
  answer(response, { jsonrpc: '2.0', id, result })
}

function answer(response, content) {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(content))
}

/** The library as it is now, without a build of everything. */
async function bundled() {
  const root = join(dirname(here), '..')
  // As deep as the rooms lie: the version is read from there.
  const folder = join(root, '.cache', 'reeve-bench')
  mkdirSync(folder, { recursive: true })
  const contents = ['src/reeve', 'src/auth/index', 'test/standins/backend-certificate']
    .map((path) => `export * from './${path}.js'`)
    .join('\n')
  const outfile = join(folder, `auth-calls-${process.pid}.mjs`)
  const stdin = { contents, resolveDir: root, loader: 'ts' }
  const shape = { bundle: true, platform: 'node', format: 'esm', packages: 'external', logLevel: 'error' }
  await build({ stdin, outfile, ...shape })
  try {
    return await import(pathToFileURL(outfile).href)
  } finally {
    await rm(outfile, { force: true })
  }
}
