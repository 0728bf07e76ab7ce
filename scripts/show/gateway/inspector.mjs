// `npm start` without a configuration; then the Inspector lists and calls through what it printed, and through stdio.
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cleanEnvironment, head, prompt, REEVE, root, succeed, table } from './commands.mjs'

const INSPECTOR = join(
  root,
  '.cache/peers/inspector/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js',
)
/** On this machine and in the second environment. */
const DEMO_SERVERS = 5
const READY_MS = 60_000

export async function inspector() {
  const home = await mkdtemp(join(tmpdir(), 'reeve-show-'))
  const env = cleanEnvironment(home)
  const started = startNpmStart(env)
  try {
    const { url, printed } = await started.ready
    console.log(`$ npm start\n${head(printed, 40)}\n`)
    const token = (await readFile(join(home, '.reeve', 'run', 'gateway-token'), 'utf8')).trim()
    const embedded = join(home, '.reeve', 'demo', 'embedded.toml')
    const targets = {
      HTTP: [url, '--transport', 'http', '--header', `Authorization: Bearer ${token}`],
      // By a file, since the Inspector takes `--config` for itself wherever it stands.
      stdio: [
        '--config',
        await inspectorFile(home, [...REEVE, '--config', embedded, 'serve', '--stdio']),
        '--server',
        'reeve',
      ],
    }
    const rows = []
    for (const [name, target] of Object.entries(targets)) rows.push([name, ...(await listAndCall(target, env, token))])
    console.log(table([['Inspector 2.12.0 over', 'tools/list', 'tools/call everything__echo'], ...rows]))
  } finally {
    await started.stop()
    // What the Inspector started over stdio has its servers there.
    await succeed([...REEVE, 'broker', 'stop'], { env, cwd: home })
    await rm(home, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function listAndCall(target, env, token) {
  const inspect = async (...method) => {
    const command = [process.execPath, INSPECTOR, '--cli', ...target, '--method', ...method]
    prompt(['mcp-inspector', ...command.slice(2).map((part) => part.replace(token, '…'))])
    return JSON.parse(await succeed(command, { env, cwd: env.HOME }))
  }
  const { tools } = await inspect('tools/list')
  const called = await inspect('tools/call', '--tool-name', 'everything__echo', '--tool-arg', 'message=hello')
  return [`${tools.length} tools`, called.content[0].text]
}

async function inspectorFile(home, [command, ...args]) {
  const file = join(home, 'mcp.json')
  await writeFile(file, JSON.stringify({ mcpServers: { reeve: { command, args } } }))
  return file
}

/** `ready` resolves with the endpoint and everything printed, once each server has told its tools. */
function startNpmStart(env) {
  const args = [join(root, 'scripts', 'start.mjs'), '--http', '127.0.0.1:0']
  const child = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const exited = new Promise((resolve) => child.once('close', resolve))
  let printed = ''
  const ready = new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no endpoint within a minute\n${printed}`)), READY_MS)
    const look = (chunk) => {
      printed += chunk
      const [url] = /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(printed) ?? []
      const told = printed.match(/^\w+(?: \(environment \w+\))? +\d+ tools$/gm)?.length ?? 0
      if (url === undefined || told < DEMO_SERVERS || !printed.includes('inspector')) return
      clearTimeout(timer)
      resolve({ url, printed })
    }
    child.stdout.on('data', look)
    child.stderr.on('data', look)
    exited.then((code) => reject(new Error(`npm start ended with ${code}\n${printed}`)))
  })
  const stop = () => {
    child.kill('SIGTERM')
    const grace = setTimeout(() => child.kill('SIGKILL'), 15_000)
    return exited.finally(() => clearTimeout(grace))
  }
  return { ready, stop }
}
