import { tmpdir } from 'node:os'
import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type HookCall, type HookReport, Hooks, type RewriteRule } from '../../src/authority/hooks/index.js'
import { HookMatcher } from '../../src/authority/hooks/matching.js'
import type { HookEntry, HookEvent, HookJson } from '../../src/config/index.js'
import { createHttpClient, LocalEnvironment } from '../../src/environments/index.js'
import { ReeveError } from '../../src/errors.js'
import { codexNaming, hookName, type ServerKey, sameKey, serverKey } from '../../src/identity/index.js'
import type { JsonObject, JsonValue } from '../../src/protocol/index.js'
import { listArguments, readArguments } from '../../src/threads/functions/arguments.js'
import { type ResolutionScope, resolveServer } from '../../src/threads/functions/resolution.js'
import { selectPlaces } from '../../src/threads/selection.js'
import { notes, notesToml, ThreadWorld } from '../fixtures/threads/thread-world.js'
import { oursOf, type VectorCase, vectorCases } from './cases.js'

const FILE = 'hooks.json'
const CASES = vectorCases(FILE)
const wantedOf = (one: VectorCase): unknown => oursOf(FILE, one) ?? one.expected
const of = (kind: string) => CASES.filter(({ input }) => input.kind === kind)

const Json = z.record(z.string(), z.json())
const Place = z.object({ serverName: z.string(), environmentId: z.string().nullable() })
const Event = z.enum(['PreToolUse', 'PermissionRequest', 'PostToolUse'])

/** Hooks are real commands: what they print is what the vectors say. */
const local = new LocalEnvironment({ http: createHttpClient({ env: {} }) })
afterAll(() => local.close())
const commands = { environment: local, env: { PATH: process.env.PATH }, cwd: tmpdir() }

it('knows every kind of case', () => {
  const known = 'rewrite block hookOutcome matchers toolName inputKeys hookCwd mcpToolHandler mcpToolHandlerSelection'
  expect(new Set(CASES.map(({ input }) => input.kind))).toEqual(new Set(known.split(' ')))
})

describe('names', () => {
  for (const one of of('toolName')) {
    it(one.name, () => {
      const { builtin, server, tool, multiEnvironment } = z
        .looseObject({
          builtin: z.string().optional(),
          server: Place.optional(),
          tool: z.string().optional(),
          multiEnvironment: z.boolean(),
        })
        .parse(one.input)
      const toolName =
        builtin ?? nameOf(serverKey(server?.serverName ?? '', server?.environmentId), tool ?? '', multiEnvironment)
      expect({ toolName }).toEqual(wantedOf(one))
    })
  }

  for (const one of of('matchers')) {
    it(one.name, () => {
      const { matchers, toolName } = z
        .looseObject({ matchers: z.array(z.string()), toolName: z.string() })
        .parse(one.input)
      const matching = matchers.filter(
        (matcher) => new HookMatcher({ matcher }).matches({ toolName, key: serverKey('notes') }) === 'yes',
      )
      expect({ matching }).toEqual(wantedOf(one))
    })
  }
})

function nameOf(key: ServerKey, tool: string, multiEnvironment: boolean): string {
  const [named] = codexNaming({ multiEnvironment, prefixed: true }).assign([{ key, tool }])
  if (named === undefined) throw new Error('it has no name')
  return hookName(named)
}

describe('what hooks are told', () => {
  for (const one of of('inputKeys')) {
    it(one.name, async () => {
      const { event } = z.looseObject({ event: Event }).parse(one.input)
      const input = await inputOf(event, callOf({}))
      const environmentField = 'environment_id' in input
      expect({ keys: Object.keys(input), environmentField }).toEqual(wantedOf(one))
    })
  }

  for (const one of of('hookCwd')) {
    it(one.name, async () => {
      const { selected, tool } = z
        .looseObject({ selected: z.array(z.object({ environmentId: z.string(), cwd: z.string() })), tool: Place })
        .parse(one.input)
      const places = selectPlaces(
        selected.map(({ environmentId, cwd }) => ({ id: environmentId, cwd })),
        { defaultSelection: [], cwdOf: () => undefined, cwd: '/' },
      )
      const owner = places.find(({ id }) => id === tool.environmentId)
      const call = callOf({ key: serverKey(tool.serverName, tool.environmentId), cwd: places[0]?.cwd ?? '' })
      const input = await inputOf('PreToolUse', { ...call, ownerCwd: owner?.cwd ?? null })
      expect({ cwd: input.cwd }).toEqual(wantedOf(one))
      expect(input.owner_cwd).toBe(owner?.cwd)
    })
  }
})

async function inputOf(event: HookEvent, call: HookCall): Promise<JsonObject> {
  const seen: JsonObject[] = []
  const hooks = new Hooks({ functions: [{ event, name: 'looks', run: (input) => void seen.push(input) }] })
  if (event === 'PreToolUse') await hooks.pre(call)
  else if (event === 'PermissionRequest') await hooks.permission(call)
  else await hooks.post(call, { content: [] })
  return seen[0] ?? {}
}

const Rewrite = z.looseObject({
  multiEnvironment: z.boolean(),
  selectedEnvironments: z.array(z.string()),
  toolName: z.string(),
  toolInput: Json,
  updatedInput: z.json(),
  tool_name: z.string().optional(),
})
type Rewrite = z.infer<typeof Rewrite>

describe('rewritten arguments', () => {
  for (const one of of('rewrite')) {
    it(one.name, async () => {
      expect(await rewrite(Rewrite.parse(one.input))).toEqual(wantedOf(one))
    })
  }
})

async function rewrite(input: Rewrite): Promise<unknown> {
  let bound: Bound
  try {
    bound = bind(input)
  } catch (error) {
    if (!(error instanceof ReeveError)) throw error
    return { hooksRun: false, result: 'refused', errorCode: error.code, output: error.message }
  }
  const { key, rewriting, isShown } = bound
  const call = callOf({ key, toolName: input.toolName, toolInput: input.toolInput, rewriting })
  const { hooks, reports } = printing('PreToolUse', {
    hookSpecificOutput: {
      hookEventName: 'PreToolUse',
      permissionDecision: 'allow',
      updatedInput: input.updatedInput,
      ...(input.tool_name !== undefined && { tool_name: input.tool_name }),
    },
  })
  const outcome = await hooks.pre(call)
  const run = reports.at(-1)?.run
  const failure =
    run?.status === 'failed'
      ? { hookStatus: run.status, hookError: run.entries.find(({ kind }) => kind === 'error')?.text }
      : {}
  const owner = key && isShown ? { owner: { serverName: key.name, environmentId: key.environment } } : {}
  if (outcome.is === 'go') {
    const restored = ['server', 'environment_id'].filter(
      (member) =>
        isRecord(outcome.input) &&
        member in outcome.input &&
        !(isRecord(input.updatedInput) && member in input.updatedInput),
    )
    const put = restored.length > 0 && outcome.isRewritten ? { restored } : {}
    return { hooksRun: true, result: 'allowed', effectiveInput: outcome.input, ...owner, ...put, ...failure }
  }
  const { code, message, data } = outcome.error
  if (code === 'arguments_not_object') return { hooksRun: true, result: 'failed', errorCode: code, text: message }
  return { hooksRun: true, result: 'refused', errorCode: code, ...data, output: message }
}

interface Bound {
  readonly key: ServerKey | null
  readonly rewriting: RewriteRule
  /** Whether the vectors name an owner. */
  readonly isShown: boolean
}

/** The servers of the observations, and where a call goes before any hook is asked. */
function bind({ toolName, toolInput, multiEnvironment, selectedEnvironments }: Rewrite): Bound {
  if (toolName === 'Bash') return { key: null, rewriting: { is: 'members', names: ['command'] }, isShown: false }
  if (toolName === 'view_image')
    return { key: null, rewriting: { is: 'owned', selecting: ['environment_id'] }, isShown: false }
  if (toolName.startsWith('mcp__'))
    return { key: serverKey('notes', 'enva'), rewriting: { is: 'arguments' }, isShown: true }
  const owners = selectedEnvironments.map((id) => ({ key: serverKey('notes', id), runsIn: id }))
  const shared = ['localonly', 'second'].map((name) => ({ key: serverKey(name), runsIn: 'local' }))
  const scope: ResolutionScope = {
    servers: [...owners, ...shared],
    selected: selectedEnvironments,
    multiEnvironment,
    soleOwners: false,
  }
  const parse = toolName === 'read_mcp_resource' ? readArguments : listArguments
  const { server, environmentId } = parse(toolInput, multiEnvironment)
  if (server === undefined)
    return { key: null, rewriting: { is: 'owned', selecting: ['server', 'environment_id'] }, isShown: false }
  const key = resolveServer({ server, ...(environmentId !== undefined && { environmentId }) }, scope)
  const leadsToOwner = (id: string) => sameKey(resolveServer({ server, environmentId: id }, scope), key)
  return {
    key,
    rewriting: multiEnvironment
      ? { is: 'owned', selecting: ['server', 'environment_id'], leadsToOwner: (id) => safely(() => leadsToOwner(id)) }
      : { is: 'owned', selecting: ['server'] },
    isShown: true,
  }
}

function safely(ask: () => boolean): boolean {
  try {
    return ask()
  } catch (error) {
    if (error instanceof ReeveError) return false
    throw error
  }
}

describe('outcomes', () => {
  for (const one of of('block')) {
    it(one.name, async () => {
      const { toolName, toolInput, hookOutput } = z
        .looseObject({ toolName: z.string(), toolInput: Json, hookOutput: Json })
        .parse(one.input)
      const { hooks } = printing('PreToolUse', hookOutput)
      const outcome = await hooks.pre(callOf({ toolName, toolInput }))
      expect({ output: outcome.is === 'refused' ? outcome.error.message : '', ran: outcome.is === 'go' }).toEqual(
        wantedOf(one),
      )
    })
  }

  for (const one of of('hookOutcome')) {
    it(one.name, async () => {
      const { event, toolName, toolInput, hookOutput } = z
        .looseObject({ event: Event, toolName: z.string(), toolInput: Json, hookOutput: Json })
        .parse(one.input)
      const { hooks, reports } = printing(event, hookOutput)
      const seen = await carryOut(hooks, callOf({ key: serverKey('probe'), tool: 'echo', toolName, toolInput }), event)
      expect(reports.map(({ type }) => type)).toEqual(['hook/started', 'hook/completed'])
      const { status, entries } = reports.at(-1)?.run ?? {}
      expect({ ...seen, hookRun: { status, entries } }).toEqual(wantedOf(one))
    })
  }
})

/** A call in the order of the events (reference: authority, 7.3), to a server that answers everything. */
async function carryOut(hooks: Hooks, call: HookCall, event: HookEvent): Promise<object> {
  const before = await hooks.pre(call)
  if (before.is === 'refused') {
    const output = before.error.code === 'hook_blocked' ? 'replaced' : 'error'
    return { requestSent: false, output, text: before.error.message }
  }
  const permission = event === 'PermissionRequest' ? await hooks.permission(call) : undefined
  const asked = permission === undefined ? {} : { userAsked: permission.is === 'none' }
  if (permission?.is === 'deny')
    return { requestSent: false, output: 'error', text: permission.error.message, ...asked }
  const after = await hooks.post({ ...call, toolInput: before.input }, { content: [] })
  const [context] = [...before.context, ...after.context]
  const told = context === undefined ? {} : { developerMessageContains: context }
  const sent = { requestSent: true, sentArguments: before.input }
  if (after.replacement !== undefined)
    return { ...sent, output: 'replaced', text: after.replacement, ...asked, ...told }
  return { ...sent, output: 'result', ...asked, ...told }
}

describe('hooks that call a tool', () => {
  for (const one of of('mcpToolHandler')) {
    it(one.name, async () => {
      const { handler, event } = z
        .looseObject({
          handler: z.object({ type: z.literal('mcp_tool'), server: z.string(), tool: z.string(), input: Json }),
          event: z.object({ toolName: z.string(), toolInput: Json }),
        })
        .parse(one.input)
      await using world = await ThreadWorld.open({ config: notesToml('p', ['--record', 'frames', '--plain']) })
      await using thread = await world.reeve.startThread()
      await thread.step({ wait: 'all' })
      const hooks = new Hooks({
        managed: [toolEntry(handler)],
        callTool: (call, options) => thread.callTool(call, options),
      })
      await hooks.pre(callOf(event))
      const params = world.received('frames').find(({ method }) => method === 'tools/call')?.params
      expect({
        request: { name: params?.name, arguments: params?.arguments },
        metaKeys: Object.keys(params?._meta ?? {}),
      }).toEqual(wantedOf(one))
    })
  }

  for (const one of of('mcpToolHandlerSelection')) {
    it(`${one.name}: ours`, async () => {
      const { handler, roots } = z
        .looseObject({
          handler: z.object({ type: z.literal('mcp_tool'), server: z.string(), tool: z.string() }),
          roots: z.array(z.object({ rootId: z.string(), environmentId: z.string() })),
        })
        .parse(one.input)
      const environments = roots.map(({ environmentId }) => environmentId)
      await using world = await ThreadWorld.open({
        executors: environments,
        plugins: roots.map(({ rootId, environmentId }) => ({
          id: rootId,
          environment: environmentId,
          servers: { [handler.server]: notes() },
        })),
      })
      await using thread = await world.reeve.startThread({
        environments: world.select(...environments),
        capabilityRoots: world.roots,
      })
      await thread.step({ wait: 'all' })
      const reports: HookReport[] = []
      const hooks = new Hooks({
        managed: [toolEntry({ ...handler, input: {} })],
        callTool: (call, options) => thread.callTool(call, options),
        onReport: (report) => reports.push(report),
      })
      await hooks.pre(callOf({}))
      const { status, entries } = reports.at(-1)?.run ?? {}
      expect({ hookStatus: status, hookError: entries?.[0]?.text }).toEqual(wantedOf(one))
    })
  }
})

function toolEntry(handler: {
  readonly server: string
  readonly tool: string
  readonly input: { readonly [member: string]: HookJson }
}): HookEntry {
  return entryOf('PreToolUse', { type: 'mcp_tool', ...handler, timeoutMs: 20_000, onFailure: 'allow' })
}

function entryOf(event: HookEvent, handler: HookEntry['handler']): HookEntry {
  return { event, handler, key: `hook:${event}`, origin: { file: '/etc/reeve/hooks.toml', layer: 'file' } }
}

/** One hook that ends as the vectors say: with this JSON on stdout, or with a status and a text on stderr. */
function printing(event: HookEvent, output: JsonObject): { readonly hooks: Hooks; readonly reports: HookReport[] } {
  const { exitCode, stderr } = output
  const command =
    typeof exitCode === 'number'
      ? `printf '%s' ${quoted(String(stderr))} >&2; exit ${exitCode}`
      : `cat >/dev/null; printf '%s' ${quoted(JSON.stringify(output))}`
  const reports: HookReport[] = []
  const managed = [entryOf(event, { type: 'command', command, timeoutMs: 20_000, onFailure: 'allow' })]
  return { hooks: new Hooks({ managed, commands, onReport: (report) => reports.push(report) }), reports }
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

function isRecord(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function callOf(more: Partial<HookCall>): HookCall {
  return {
    threadId: 'thread',
    turnId: 'turn',
    callId: 'call',
    toolName: 'mcp__notes__whoami',
    toolInput: {},
    key: serverKey('notes'),
    tool: 'whoami',
    executionEnvironment: 'local',
    ownerCwd: null,
    cwd: tmpdir(),
    rewriting: { is: 'arguments' },
    ...more,
  }
}
