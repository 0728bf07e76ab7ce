import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { type ConfigProblem, loadConfig } from '../../src/config/index.js'
import {
  createHttpClient,
  EnvironmentRegistry,
  EnvironmentTable,
  LocalEnvironment,
} from '../../src/environments/index.js'
import { ReeveError } from '../../src/errors.js'
import { serveExecutorWebSocket, type WebSocketExecutor } from '../../src/executor/index.js'
import { Reeve, type ThreadEvent } from '../../src/reeve.js'
import { oursOf, vectorCases } from './cases.js'

const FILE = 'environments.json'

const Toml = z.strictObject({ kind: z.literal('environmentsToml'), toml: z.string() })
const Api = z.strictObject({
  kind: z.literal('environmentApi'),
  method: z.enum(['environment/status', 'environment/info', 'environment/add']),
  params: z.strictObject({ environmentId: z.string(), execServerUrl: z.string().optional() }),
  known: z.array(z.string()).optional(),
  state: z.literal('recovering').optional(),
})
const Notification = z.strictObject({
  kind: z.literal('notification'),
  method: z.enum(['thread/environment/connected', 'thread/environment/disconnected']),
})
type Api = z.infer<typeof Api>

const Rejected = z.strictObject({ accepted: z.literal(false), errorCode: z.string(), text: z.string() })
const Accepted = z.strictObject({ accepted: z.literal(true), defaultSelection: z.array(z.string()) })

const casesOf = (kind: string) => vectorCases(FILE).filter(({ input }) => input.kind === kind)

describe('environments.toml', () => {
  for (const { name, input, expected } of casesOf('environmentsToml')) {
    it(name, async () => {
      const home = temporaryHome()
      const { toml } = Toml.parse(input)
      writeFileSync(join(home, 'environments.toml'), toml)
      writeFileSync(join(home, 'config.toml'), '[mcp_servers.stays]\ncommand = "x"\n')
      const { environments, problems, servers } = await loadConfig({ home, cwd: home, env: {} })
      // Whatever stands in this file, the rest of the configuration counts.
      expect(servers.map((server) => server.name)).toEqual(['stays'])
      const wanted = z.union([Accepted, Rejected]).parse(expected)
      if (wanted.accepted) {
        expect(problems).toEqual([])
        expect(environments.defaultSelection).toEqual(wanted.defaultSelection)
        return
      }
      expect(problems.map(({ severity, code }) => [severity, code])).toEqual([['error', wanted.errorCode]])
      expect(environments.defaultSelection).toEqual(['local'])
      const [problem] = problems
      expect(problem?.place).toContain(join(home, 'environments.toml:'))
      // A parser's own words for broken syntax are its own.
      if (wanted.errorCode !== 'syntax') expect(problem && referenceText(problem)).toBe(wanted.text)
    })
  }
})

describe('the environment API', () => {
  for (const one of casesOf('environmentApi')) {
    const ours = oursOf(FILE, one)
    it(ours === undefined ? one.name : `${one.name}, ours`, async () => {
      expect(await answer(Api.parse(one.input))).toEqual(ours ?? one.expected)
    })
  }
})

describe('notifications of environments', () => {
  for (const { name, input, expected } of casesOf('notification')) {
    it(name, async () => {
      const { method } = Notification.parse(input)
      const executor = await startExecutor()
      const home = temporaryHome()
      await using reeve = await Reeve.open({ home, cwd: home, env: {} })
      reeve.environments.add('enva', { kind: 'url', url: executor.url })
      const told: ThreadEvent[] = []
      let onDisconnected = () => {}
      const disconnected = new Promise<void>((resolve) => {
        onDisconnected = resolve
      })
      const onEvent = (event: ThreadEvent) => {
        told.push(event)
        if (event.type !== 'environment') return
        if (event.status === 'disconnected') onDisconnected()
        else void executor[Symbol.asyncDispose]()
      }
      await using _thread = await reeve.startThread({ environments: [{ id: 'enva', cwd: '/' }], onEvent })
      reeve.environments.warm(['enva'])
      await disconnected
      const status = method === 'thread/environment/connected' ? 'connected' : 'disconnected'
      const event = told
        .filter(({ type }) => type === 'environment')
        .find((one) => 'status' in one && one.status === status)
      // A listener hears one thread, and that has its id.
      expect(event).toMatchObject({ type: 'environment', environment: 'enva' })
      expect(expected).toEqual({ paramsKeys: ['threadId', 'environmentId'] })
    })
  }
})

/** The reference prefixes what its parser finds, and names the member without the index. */
function referenceText({ code, message, place }: ConfigProblem): string {
  const prefix = 'exec-server protocol error: '
  if (!['wrong_type', 'missing_member', 'unknown_member', 'negative_duration'].includes(code)) return prefix + message
  const path = (place.split(' ')[1] ?? '').split('.').filter((part) => !/^\d+$/.test(part))
  const at = code === 'unknown_member' ? path.slice(0, -1) : path
  const where = at.length === 0 ? '' : `\nin \`${at.join('.')}\``
  return `${prefix}failed to parse environment config \`<home>/environments.toml\`: ${message}${where}`
}

async function answer({ method, params, known = [], state }: Api): Promise<unknown> {
  const registry = newRegistry()
  const ids = state === undefined ? known : [params.environmentId]
  const executors = new Map<string, WebSocketExecutor>()
  for (const id of ids) {
    const executor = await startExecutor()
    executors.set(id, executor)
    registry.add(id, { kind: 'url', url: executor.url })
    await registry.info(id)
  }
  if (state !== undefined) await lose(registry, executors, params.environmentId)
  try {
    return { result: await ask(registry, method, params) }
  } catch (error) {
    if (!(error instanceof ReeveError)) throw error
    // Faults of the manager carry its prefix on the wire; an id that nobody has does not.
    const prefix = error.code === 'unknown_environment' ? '' : 'exec-server protocol error: '
    return { error: { code: -32600, message: prefix + error.message }, errorCode: error.code }
  }
}

async function ask(registry: EnvironmentRegistry, method: Api['method'], params: Api['params']): Promise<unknown> {
  const { environmentId: id, execServerUrl: url = '' } = params
  if (method === 'environment/status') return registry.status(id)
  if (method === 'environment/info') return registry.info(id)
  registry.add(id, { kind: 'url', url })
  // Nothing connects by being added.
  expect(registry.status(id)).toEqual({ status: 'pending' })
  return {}
}

async function lose(registry: EnvironmentRegistry, executors: ReadonlyMap<string, WebSocketExecutor>, id: string) {
  const recovering = new Promise<void>((resolve) => {
    registry.onstate((of, { is }) => of === id && is === 'recovering' && resolve())
  })
  await executors.get(id)?.[Symbol.asyncDispose]()
  await recovering
}

function newRegistry(): EnvironmentRegistry {
  const host = new LocalEnvironment({ http: createHttpClient({ env: {} }) })
  const table = new EnvironmentTable({ host, env: {}, cwd: tmpdir() })
  const registry = new EnvironmentRegistry(table)
  onTestFinished(async () => {
    await registry.close()
    await table.close()
    await host.close()
  })
  return registry
}

async function startExecutor(): Promise<WebSocketExecutor> {
  const executor = await serveExecutorWebSocket({
    host: '127.0.0.1',
    port: 0,
    authentication: { kind: 'none' },
    env: { SHELL: '/bin/bash', HOME: '/' },
    cwd: '/workspace/a',
  })
  onTestFinished(() => executor[Symbol.asyncDispose]())
  return executor
}

function temporaryHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'reeve-environments-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  return home
}
