import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { z } from 'zod'
import { speakJsonLines } from '../json-lines.js'
import { PEER } from '../peers.js'
import { startProgram } from '../program.js'
import type { World } from './world.js'

type Members = Readonly<Record<string, unknown>>

export interface Notification {
  readonly method: string
  readonly params: Members
}

/** The real `codex app-server` past its handshake, in a home of its own inside the world. */
export interface CodexApp extends AsyncDisposable {
  request(method: string, params: Members): Promise<Members>
  /** Everything told so far, in order. */
  readonly told: readonly Notification[]
  /** The first notification that fits, told already (after `since`) or later. */
  notified(fits: (notification: Notification) => boolean, since?: number): Promise<Notification>
}

const Notified = z.object({
  method: z.string(),
  id: z.undefined().optional(),
  params: z.record(z.string(), z.unknown()),
})

export async function startCodexApp(world: World, modelUrl: string): Promise<CodexApp> {
  const home = world.place('codex-home')
  await mkdir(home, { recursive: true })
  await writeFile(join(home, 'environments.toml'), world.environments)
  await writeFile(join(home, 'config.toml'), settings(world, modelUrl))
  const { command, args } = PEER.codex()
  const program = startProgram(
    { command, args: [...args, 'app-server'] },
    { env: { ...world.env, HOME: home, CODEX_HOME: home }, cwd: world.folder },
  )
  const lines = speakJsonLines(program)
  const told: Notification[] = []
  const waiting = new Set<(notification: Notification | Error) => void>()
  createInterface({ input: program.child.stdout }).on('line', (line) => {
    const read = Notified.safeParse(JSON.parse(line))
    if (!read.success) return
    told.push(read.data)
    for (const settle of waiting) settle(read.data)
  })
  const end = () => {
    for (const settle of waiting) settle(new Error(`codex ended\n${program.stderr()}`))
  }
  void program.exited.then(end, end)
  const clientInfo = { name: 'differential', title: 'Differential', version: '1.0.0' }
  await lines.request('initialize', { clientInfo, capabilities: { experimentalApi: true } })
  lines.notify('initialized')
  return {
    request: lines.request,
    told,
    notified: (fits, since = 0) =>
      new Promise((resolve, reject) => {
        const already = told.slice(since).find(fits)
        if (already !== undefined) return resolve(already)
        const settle = (notification: Notification | Error) => {
          if (notification instanceof Error) reject(notification)
          else if (fits(notification)) resolve(notification)
          else return
          waiting.delete(settle)
        }
        waiting.add(settle)
      }),
    [Symbol.asyncDispose]: program[Symbol.asyncDispose],
  }
}

function settings({ config, plan }: World, modelUrl: string): string {
  return `model = "gpt-5.4"
model_provider = "standin"
suppress_unstable_features_warning = true
[model_providers.standin]
name = "standin"
base_url = ${JSON.stringify(`${modelUrl}/v1`)}
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
supports_websockets = false
[features]
multi_environment_mcp = ${plan.multiEnvironment ?? true}
${config}`
}
