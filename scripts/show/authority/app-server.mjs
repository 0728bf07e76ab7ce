// `codex app-server`, spoken to in JSON lines: threads of the real Codex without a model.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { codexProgram } from '../environments/exec-server.mjs'
import { cleanEnvironment } from '../gateway/commands.mjs'

const PATIENCE_MS = 60_000

/** @returns {Promise<{ request(method: string, params: object): Promise<object>, stop(): Promise<void> }>} */
export async function startAppServer(home) {
  const env = { ...cleanEnvironment(home), CODEX_HOME: home }
  const child = spawn(await codexProgram(), ['app-server'], { cwd: home, env, stdio: ['pipe', 'pipe', 'ignore'] })
  const pending = new Map()
  let lastId = 0
  let ended
  const exited = new Promise((resolve) => {
    const end = (why) => {
      ended = new Error(`codex app-server ended: ${why}`)
      for (const { reject } of pending.values()) reject(ended)
      resolve()
    }
    child.once('error', end)
    child.once('close', end)
  })
  const write = (frame) => child.stdin.write(`${JSON.stringify(frame)}\n`)
  // Its end is told by `close`.
  child.stdin.on('error', () => {})
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, method, result, error } = JSON.parse(line)
    if (method !== undefined) {
      if (id !== undefined) write({ id, error: { code: -32601, message: `no method '${method}'` } })
      return
    }
    const { resolve, reject } = pending.get(id) ?? {}
    pending.delete(id)
    if (error === undefined) resolve?.(result)
    else reject?.(new Error(JSON.stringify(error)))
  })

  const request = (method, params) =>
    new Promise((resolve, reject) => {
      if (ended !== undefined) return reject(ended)
      lastId += 1
      const timer = setTimeout(() => reject(new Error(`no answer to ${method} within a minute`)), PATIENCE_MS)
      const settled = (settle) => (outcome) => {
        clearTimeout(timer)
        settle(outcome)
      }
      pending.set(lastId, { resolve: settled(resolve), reject: settled(reject) })
      write({ id: lastId, method, params })
    })
  const stop = async () => {
    child.kill()
    await exited
  }
  try {
    await request('initialize', {
      clientInfo: { name: 'show', title: 'Show', version: '1.0.0' },
      capabilities: { experimentalApi: true },
    })
  } catch (error) {
    await stop()
    throw error
  }
  write({ method: 'initialized' })
  return { request, stop }
}
