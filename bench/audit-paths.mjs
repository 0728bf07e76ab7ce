// The ways to the echo tool whose calls are recorded: each opens with an `[audit] mode` and a folder of its own, empty.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort, startProcess } from './processes.mjs'
import { connectStreamable } from './streamable-client.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const ECHO = [join(root, 'test', 'fixtures', 'stdio', 'echo.mjs'), '--only-echo']
/** Microseconds of the unit in which /proc counts the time of other processes. */
const TICK = 10_000
const MOST_IN_FLIGHT = 64
const READY_MS = 30_000

/** name → `open(mode, folder)`, which gives `{ call(message), cpuMicroseconds(), close() }`; CPU time is that of Reeve alone. */
export const PATHS = { thread: openThread, gateway: openGateway }

async function openThread(mode, folder) {
  writeConfig(folder, mode)
  const { Reeve } = await import('../dist/reeve.js')
  const reeve = await Reeve.open({ home: folder, cwd: folder })
  const thread = await reeve.startThread()
  const step = await thread.step({ wait: 'all' })
  const tool = step.tools.find(({ tool: name }) => name === 'echo')
  if (tool === undefined) throw new Error('no echo tool')
  return {
    call: async (message) => checked(message, await step.callFlat(tool.flat, { message })),
    // Of this process: what calls is in it, too, and is the same in all modes.
    cpuMicroseconds: () => {
      const { user, system } = process.cpuUsage()
      return user + system
    },
    close: async () => {
      await thread.close()
      await reeve.close()
    },
  }
}

async function openGateway(mode, folder) {
  writeConfig(folder, mode)
  const token = 'reeve-bench-'.repeat(4)
  const tokenFile = join(folder, 'token')
  writeFileSync(tokenFile, token, { mode: 0o600 })
  const port = await freePort()
  const reeve = [process.execPath, join(root, 'dist', 'cli', 'reeve.js'), '--home', folder]
  const running = startProcess([...reeve, 'serve', '--http', `127.0.0.1:${port}`, '--token-file', tokenFile], {
    cwd: folder,
  })
  const headers = { authorization: `Bearer ${token}` }
  const client = await Promise.race([running.failed, connected(`http://127.0.0.1:${port}/mcp`, headers)])
  const { tools } = await client.request('tools/list', {})
  const { name } = tools.find((tool) => tool.name.endsWith('echo'))
  return {
    call: async (message) => checked(message, await client.request('tools/call', { name, arguments: { message } })),
    cpuMicroseconds: () => cpuOf(running.pid),
    close: async () => {
      await client.close()
      await running.stop()
    },
  }
}

/** Asks again until it listens. */
async function connected(url, headers) {
  const deadline = performance.now() + READY_MS
  for (;;) {
    try {
      return await connectStreamable(url, { headers, inFlight: MOST_IN_FLIGHT })
    } catch (error) {
      if (performance.now() > deadline) throw error
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}

function writeConfig(folder, mode) {
  mkdirSync(folder, { recursive: true })
  const server = `[mcp_servers.echo]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify(ECHO)}\n`
  writeFileSync(join(folder, 'config.toml'), `${server}[audit]\nmode = "${mode}"\n`)
}

function checked(message, { content }) {
  if (content?.[0]?.text !== message) throw new Error(`asked for '${message}', got ${JSON.stringify(content)}`)
}

/** User and system time of all threads of a process. */
function cpuOf(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK
}
