import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { ConnectionStatus } from '../../src/connections/index.js'
import { DEFAULT_TOOL_TIMEOUT } from '../../src/connections/index.js'
import {
  OperationTimeoutError,
  ProcessFailedError,
  ReeveError,
  type ServerStatus,
  type Thread,
  type ThreadEvent,
  TransportClosedError,
} from '../../src/reeve.js'
import type { Script } from '../fixtures/connections/scripted-server.js'
import { FunctionWorld } from '../fixtures/functions/function-world.js'
import { notes, notesToml, ThreadWorld } from '../fixtures/threads/thread-world.js'
import { vectorCases } from './cases.js'
import { RUNTIME_STATUS, rowOf, toolsError } from './statuses-api.js'

const FILE = 'statuses.json'
const of = (...kinds: readonly string[]) => vectorCases(FILE).filter(({ input }) => kinds.includes(input.kind))

type StatusEvent = Extract<ThreadEvent, { readonly type: 'status' }>

const GONE = { command: '/nonexistent/server' }

describe('servers that come up, and that do not', () => {
  let world: ThreadWorld
  let thread: Thread
  const told: StatusEvent[] = []
  beforeAll(async () => {
    world = await ThreadWorld.open({
      executors: ['enva', 'envb'],
      config: [
        notesToml('hang', ['--silent'], 'startup_timeout_sec = 1'),
        '[mcp_servers.bad]\ncommand = "/nonexistent/server"\n',
        notesToml('p'),
        notesToml('localonly'),
        notesToml('off', [], 'enabled = false'),
      ].join(''),
      plugins: [
        { id: 'rootA', environment: 'enva', servers: { 'my notes!': notes(), notes: notes() } },
        {
          id: 'rootB',
          environment: 'envb',
          servers: {
            notes: GONE,
            exits: notes('--ends'),
            slow: { ...notes('--silent'), startup_timeout_sec: 3 },
          },
        },
      ],
    })
    thread = await world.reeve.startThread({
      environments: world.select('enva', 'envb'),
      capabilityRoots: world.roots,
      onEvent: (event) => event.type === 'status' && told.push(event),
    })
    await thread.step({ wait: 'all' })
  }, 30_000)
  afterAll(() => world[Symbol.asyncDispose]())

  const rowFor = (name: string, environment: string | null): ServerStatus => {
    const row = thread.servers().find(({ key }) => key.name === name && key.environment === environment)
    if (row === undefined) throw new Error(`no row of ${name}`)
    return row
  }

  for (const { name, input, expected } of of('startup')) {
    it(name, () => {
      const { serverName, environmentId } = Named.parse(input)
      const { params, ...rest } = z
        .looseObject({ params: z.looseObject({ status: z.string(), error: z.string().nullable() }) })
        .parse(expected)
      const found = told.find(
        ({ key, status }) => key.name === serverName && key.environment === environmentId && status === params.status,
      )
      const error = found && rowFor(serverName, environmentId).error
      expect({
        method: 'mcpServer/startupStatus/updated',
        params: {
          threadId: '<thread-id>',
          name: found?.key.name,
          environmentId: found?.key.environment,
          status: found?.status,
          error: found?.error === undefined ? null : inReferenceWords(found.error, error),
          failureReason: found?.failureReason ?? null,
        },
      }).toEqual({ ...rest, params })
    })
  }

  for (const { name, input, expected } of of('rowState')) {
    it(name, async () => {
      const { serverName, environmentId } = Named.parse(input)
      const row = rowFor(serverName, environmentId)
      const text = toolsError(row)
      const { tools } = await thread.step()
      expect({
        runtimeStatus: rowOf(row)[3],
        toolsError: text === null ? null : inReferenceWords(text, row.error).replace(/after \d+s/, 'after <elapsed>s'),
        toolNames: tools
          .filter(({ key }) => key.name === serverName && key.environment === environmentId)
          .map(({ tool }) => tool),
      }).toEqual(expected)
    })
  }

  for (const { name, input, expected } of of('runtimeStatus')) {
    it(name, async () => {
      const { server } = z
        .looseObject({
          server: z.object({
            enabled: z.boolean().optional(),
            command: z.string().optional(),
            phase: z.string().optional(),
          }),
        })
        .parse(input)
      if (server.phase !== undefined) {
        // Not begun: nothing of an environment was started.
        await using other = await world.reeve.startThread({ capabilityRoots: world.roots })
        await expect
          .poll(() => other.servers().find(({ key }) => key.environment === 'enva' && key.name === 'notes'))
          .toMatchObject({ status: 'not_started' })
        expect({ runtimeStatus: null }).toEqual(expected)
        return
      }
      const which = server.enabled === false ? 'off' : server.command === undefined ? 'p' : 'bad'
      expect({ runtimeStatus: rowOf(rowFor(which, null))[3] }).toEqual(expected)
    })
  }
})

describe('the states there are', () => {
  // Types of ours, each spelled out for the compiler to hold them complete.
  const startup: Readonly<Record<StatusEvent['status'], true>> = {
    starting: true,
    ready: true,
    failed: true,
    cancelled: true,
  }
  const reasons: Readonly<Record<NonNullable<StatusEvent['failureReason']>, true>> = { reauthenticationRequired: true }
  const states: Readonly<Record<ConnectionStatus, string>> = RUNTIME_STATUS
  const values: ReadonlyMap<string, readonly string[]> = new Map([
    ['runtimeStatus', Object.values(states)],
    ['startupStatus', Object.keys(startup)],
    ['failureReason', Object.keys(reasons)],
  ])
  for (const { name, input, expected } of of('enum')) {
    const { type } = z.looseObject({ type: z.string() }).parse(input)
    const ours = values.get(type)
    // The others are in the list of what is pending.
    if (ours === undefined) continue
    it(name, () => {
      const { values: wanted } = z.object({ values: z.array(z.string()) }).parse(expected)
      expect([...ours].sort()).toEqual([...wanted].sort())
    })
  }
})

describe('what a model is told of a call that failed', () => {
  const CONDITIONS: Readonly<Record<string, () => Promise<string>>> = {
    'connection lost, tool call': async () => {
      const lost = new TransportClosedError('the process ended', { sent: true })
      return framed('notes/whoami', lost)
    },
    'tool call timeout': async () => framed('hang/hang', new OperationTimeoutError('tools/call', DEFAULT_TOOL_TIMEOUT)),
    'connection lost, resource list': async () => {
      const ends: Script = async (_params, { server }) => {
        // Once it is listed at the start.
        if (server.count('resources/list') > 1) await server.crash()
        return { resources: [] }
      }
      await using world = new FunctionWorld([
        { name: 'notes', environment: 'envb', script: { 'resources/list': ends } },
      ])
      const functions = await world.functions(['envb'])
      return (await functions.call('list_mcp_resources', { server: 'notes', environment_id: 'envb' })).output
    },
    'resource read timeout': async () => {
      const never: Script = () => new Promise(() => {})
      await using world = new FunctionWorld([
        { name: 'hang', environment: 'enva', script: { 'resources/read': never } },
      ])
      const functions = await world.functions(['enva'])
      const where = { server: 'hang', environment_id: 'enva', uri: 'hang://x' }
      const { output } = await functions.call('read_mcp_resource', where, { timeoutMs: 20 })
      // Nobody waits five minutes for a test.
      return output.replace('after 0s', `after ${DEFAULT_TOOL_TIMEOUT / 1000}s`)
    },
  }
  for (const { name, input, expected } of of('failureText')) {
    it(name, async () => {
      const { condition } = z.looseObject({ condition: z.string() }).parse(input)
      expect({ text: await CONDITIONS[condition]?.() }).toEqual(expected)
    })
  }
})

const Named = z.looseObject({ serverName: z.string(), environmentId: z.string().nullable() })

/**
 * The reference quotes its platform's words for what an operating system or a closed pipe means; ours are Node's. What it
 * means is in the facts of the error, and decides here.
 */
function inReferenceWords(text: string, error: unknown): string {
  const start = 'MCP startup failed: '
  const at = text.indexOf(start)
  if (at === -1 || !(error instanceof ReeveError)) return text
  const reason = text.slice(at + start.length)
  const ended = 'handshaking with MCP server failed: connection closed: initialize response'
  if (reason.startsWith(ended))
    return `${text.slice(0, at + start.length)}${ended}: connection closed: initialize response`
  const { cause } = error
  if (!(cause instanceof ProcessFailedError)) return text
  const missing = 'No such file or directory (os error 2)'
  const isRemote = error.key?.environment !== null
  return `${text.slice(0, at + start.length)}${isRemote ? `exec-server rejected request (-32603): ${missing}` : missing}`
}

/** As the reference frames a failed call for its model. */
function framed(place: string, error: ReeveError): string {
  const why = error instanceof TransportClosedError ? 'Transport closed' : error.message
  return `tool call error: tool call failed for \`${place}\`\n\nCaused by:\n    ${why}`
}
