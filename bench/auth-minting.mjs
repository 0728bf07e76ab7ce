// What per-operation auth costs an MCP call over HTTP: the real transport against a server in a process of its own, with a
// fixed header, with the bearer resolved for each operation, and with an assertion minted for each. Run alone:
//   node bench/auth-minting.mjs [calls in a round]
import { fork } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { createServer } from 'node:http'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { percentile, spread } from './statistics.mjs'

const here = fileURLToPath(import.meta.url)
const ROUNDS = 7
const FIXED = [
  ['authorization', `Bearer ${'x'.repeat(800)}`],
  ['chatgpt-account-id', 'acct-1'],
]

if (process.argv[2] === 'serve') serve()
else await main(Number(process.argv[2] ?? 2000))

function serve() {
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const { id } = JSON.parse(body || '{}')
    if (id === undefined) return response.writeHead(request.method === 'GET' ? 405 : 202).end()
    const answer = { jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: 'done' }] } }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
  server.listen(0, '127.0.0.1', () => process.send(server.address().port))
}

async function main(calls) {
  const parts = await bundled()
  const child = fork(here, ['serve'])
  try {
    const port = await new Promise((resolve) => child.once('message', resolve))
    const origin = `http://127.0.0.1:${port}`
    const systems = []
    for (const mode of ['fixed', 'off', 'dual_header', 'assertion_only'])
      systems.push({ mode, figures: [], ...(await connect(parts, origin, mode)) })
    for (const { send } of systems) await measure(send, calls)
    for (let round = 0; round < ROUNDS; round += 1)
      for (const { send, figures } of systems) figures.push(await measure(send, calls))
    const base = spread(systems[0].figures).median
    for (const { mode, figures } of systems) {
      const { median, low, high } = spread(figures)
      const ratio = median / base
      console.log(
        `${mode.padEnd(15)} median of a call ${micro(median)} us (${micro(low)}-${micro(high)})  x ${ratio.toFixed(3)}`,
      )
    }
    const added = spread(systems[2].figures).median - base
    console.log(`dual_header adds ${micro(added)} us: 5 % of a call of ${(added * 20).toFixed(2)} ms`)
    console.log(`${'minting alone'.padEnd(15)} ${micro(mintingAlone(parts))} us`)
    for (const { close } of systems) await close()
  } finally {
    child.kill()
  }
}

async function connect(parts, origin, mode) {
  const { createHttpClient, openHttp } = parts
  const http = createHttpClient({ env: {} })
  const url = `${origin}/mcp`
  const server = { type: 'streamable_http', url, httpHeaders: {}, envHttpHeaders: {}, auth: 'chatgpt' }
  const auth = mode === 'fixed' ? { headers: async () => FIXED } : await authOf(parts, origin, mode)
  const transport = await openHttp({ http, server, env: {}, label: 'bench', auth })
  const waiting = new Map()
  transport.onmessage = (message) => waiting.get(message.id)?.(message)
  await transport.start()
  let id = 0
  const send = async () => {
    id += 1
    const answer = new Promise((resolve) => waiting.set(id, resolve))
    await transport.send({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 't', arguments: {} } })
    waiting.delete((await answer).id)
  }
  const close = async () => {
    await transport.close()
    await http.close()
  }
  return { send, close }
}

async function authOf(parts, origin, mode) {
  const { AgentTasks, AuthContext, AuthManager, RuntimeInstances, firstPartyIssuer, hostTokensSource, systemClock } =
    parts
  const claims = { exp: 4e9, 'https://api.openai.com/auth': { chatgpt_account_id: 'acct-1', chatgpt_user_id: 'u' } }
  const accessToken = ['{}', JSON.stringify({ ...claims, pad: 'x'.repeat(400) }), 'signature']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.')
  const body = {
    runtime_agent_instance_id: '33333333-3333-4333-8333-333333333333',
    agent_host_id: 'host-1',
    actor: { kind: 'chatgpt', user_id: 'u', account_id: 'acct-1' },
  }
  const http = { send: async () => ({ status: 200, header: () => undefined, body: JSON.stringify(body) }) }
  const places = { baseUrl: origin, trustedOrigins: [origin], registrationUrl: 'https://auth.example.test/register' }
  const issuer = firstPartyIssuer()
  const clock = systemClock
  const instances = new RuntimeInstances({ issuer, places, http, clock, installationId: 'bench' })
  const host = hostTokensSource({ accessToken, accountId: 'acct-1' })
  const manager = await AuthManager.open({ sources: [], host, clock })
  const runtime = { places, issuer, instances, agents: new AgentTasks({ http, clock }), clock }
  return parts.transportAuth(new AuthContext(runtime, manager, mode).connect('mcp'))
}

async function measure(send, calls) {
  const times = []
  for (let at = 0; at < calls; at += 1) {
    const from = performance.now()
    await send()
    times.push(performance.now() - from)
  }
  return percentile(times, 50)
}

function mintingAlone({ assertionMoment, firstPartyIssuer, mintAssertion, newRuntimeKey }) {
  const issuer = firstPartyIssuer()
  const key = newRuntimeKey()
  const registration = { instanceId: '33333333-3333-4333-8333-333333333333' }
  const times = []
  for (let at = 0; at < 5000; at += 1) {
    const from = performance.now()
    mintAssertion(key, issuer.payload(registration, assertionMoment(Date.now())))
    times.push(performance.now() - from)
  }
  return percentile(times, 50)
}

function micro(ms) {
  return (ms * 1000).toFixed(0)
}

/** The rooms as they are now, without a build of everything. */
async function bundled() {
  const root = join(dirname(here), '..')
  const folder = join(root, 'node_modules', '.cache', 'reeve-bench')
  mkdirSync(folder, { recursive: true })
  const contents = [
    'auth/index',
    'transports/index',
    'environments/index',
    'auth/runtime/assertion',
    'auth/runtime/key-pair',
  ]
    .map((path) => `export * from './${path}.js'`)
    .join('\n')
  const outfile = join(folder, 'auth-minting.mjs')
  const stdin = { contents, resolveDir: join(root, 'src'), loader: 'ts' }
  await build({
    stdin,
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'error',
  })
  return import(pathToFileURL(outfile).href)
}
