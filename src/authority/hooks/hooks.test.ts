import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { CALL, OWNED } from '../../../test/fixtures/hooks/calls.js'
import { isRunning } from '../../../test/fixtures/stdio/fixture-processes.js'
import type { CommandHook, HookEntry, HookEvent } from '../../config/index.js'
import { createHttpClient, LocalEnvironment } from '../../environments/index.js'
import type { JsonObject } from '../../protocol/index.js'
import { Hooks, type HooksOptions } from './hooks.js'
import { hookHash } from './trust.js'
import type { FunctionHook, HookReport } from './types.js'

let folder: string
let local: LocalEnvironment
let reports: HookReport[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reeve-hooks-'))
  local = new LocalEnvironment({ http: createHttpClient({ env: {} }), termGraceMs: 200 })
  reports = []
})
afterEach(async () => {
  await local.close()
  rmSync(folder, { recursive: true, force: true })
})

function entry(event: HookEvent, command: string, more: Partial<CommandHook> = {}, at = 0): HookEntry {
  return {
    event,
    handler: { type: 'command', command, timeoutMs: 20_000, onFailure: 'allow', ...more },
    key: `/etc/hooks:${event}:0:${at}`,
    origin: { file: '/etc/hooks', layer: 'file' },
  }
}

function hooksOf(options: HooksOptions): Hooks {
  const commands = { environment: local, env: { PATH: process.env.PATH, NOTES_TOKEN: 's3cret' }, cwd: folder }
  return new Hooks({ commands, onReport: (report) => reports.push(report), ...options })
}

function returning(value: JsonObject | undefined, more: Partial<FunctionHook> = {}): FunctionHook {
  return { event: 'PreToolUse', name: 'fn', run: () => value, ...more }
}

const rewriting = (updatedInput: unknown) =>
  returning({ hookSpecificOutput: { permissionDecision: 'allow', updatedInput } } as JsonObject)
const DENY = returning({ hookSpecificOutput: { permissionDecision: 'deny', permissionDecisionReason: 'no' } })

const errorOf = () => reports.at(-1)?.run.entries.find(({ kind }) => kind === 'error')?.text

describe('commands', () => {
  it('read the call on stdin, with the fields of the server and its environment', async () => {
    await hooksOf({ managed: [entry('PreToolUse', 'cat > seen.json')] }).pre(CALL)
    expect(JSON.parse(readFileSync(join(folder, 'seen.json'), 'utf8'))).toEqual({
      session_id: 'thread',
      turn_id: null,
      transcript_path: null,
      cwd: '/no/such/folder',
      hook_event_name: 'PreToolUse',
      model: '',
      permission_mode: 'default',
      tool_name: 'mcp__notes__add',
      tool_input: { text: 'x' },
      tool_use_id: 'call-1',
      server_name: 'notes',
      server_tool: 'add',
      environment_id: 'devbox',
      execution_environment_id: 'devbox',
      owner_cwd: '/srv',
    })
  })

  it('get no credentials: their environment is the short list', async () => {
    await hooksOf({ managed: [entry('PreToolUse', 'env > seen')] }).pre(CALL)
    const seen = readFileSync(join(folder, 'seen'), 'utf8')
    expect(seen).toContain('PATH=')
    expect(seen).not.toContain('s3cret')
  })

  it('that crash let the call go on and are reported as failed', async () => {
    const outcome = await hooksOf({ managed: [entry('PreToolUse', 'kill -9 $$')] }).pre(CALL)
    expect(outcome).toMatchObject({ is: 'go', isRewritten: false })
    expect(reports.at(-1)?.run.status).toBe('failed')
    await hooksOf({ managed: [entry('PreToolUse', 'exit 7')] }).pre(CALL)
    expect(errorOf()).toBe('hook exited with code 7')
  })

  it('that crash keep the call back where they have to answer', async () => {
    const must = { onFailure: 'block' as const }
    const pre = await hooksOf({ managed: [entry('PreToolUse', 'exit 7', must)] }).pre(CALL)
    expect(pre).toMatchObject({ is: 'refused', error: { code: 'hook_failed' } })
    const permission = await hooksOf({ managed: [entry('PermissionRequest', 'exit 7', must)] }).permission(CALL)
    expect(permission).toMatchObject({ is: 'deny', error: { code: 'hook_failed' } })
    const post = await hooksOf({ managed: [entry('PostToolUse', 'exit 7', must)] }).post(CALL, {})
    expect(post.replacement).toContain('hook exited with code 7')
  })

  it('that hang are ended in time, with what they started', async () => {
    const hooks = hooksOf({
      managed: [entry('PreToolUse', 'sh -c "echo \\$\\$ > child; exec sleep 600" & wait', { timeoutMs: 1500 })],
    })
    expect(await hooks.pre(CALL)).toMatchObject({ is: 'go' })
    expect(errorOf()).toBe('hook timed out after 1.5s')
    expect(local.running).toBe(0)
    const child = Number(readFileSync(join(folder, 'child'), 'utf8'))
    await vi.waitFor(() => expect(isRunning(child)).toBe(false), { timeout: 10_000 })
  })

  it.each([
    ['stdout', 'head -c 100000000 /dev/zero'],
    ['stderr', 'head -c 100000000 /dev/zero >&2'],
  ])('that print 100 MB on %s fail, and are not kept in memory', async (name, command) => {
    expect(await hooksOf({ managed: [entry('PreToolUse', command)] }).pre(CALL)).toMatchObject({ is: 'go' })
    expect(errorOf()).toBe(`hook printed more than 1048576 bytes on ${name}`)
    expect(local.running).toBe(0)
  })

  it('need not read their input', async () => {
    const big = { ...CALL, toolInput: { text: 'x'.repeat(5_000_000) } }
    const hooks = hooksOf({ managed: [entry('PreToolUse', `printf '{"systemMessage":"seen"}'`)] })
    expect(await hooks.pre(big)).toMatchObject({ is: 'go' })
    expect(reports.at(-1)?.run).toMatchObject({ status: 'completed', entries: [{ kind: 'warning', text: 'seen' }] })
  })

  it.each([
    '{',
    '[1]',
    '{"continue":"no"}',
    '{"hookSpecificOutput":5}',
    '{"hookSpecificOutput":{"hookEventName":"PostToolUse"}}',
    '{"hookSpecificOutput":{"permissionDecision":"perhaps"}}',
    '{"__proto__":{"continue":false}}',
  ])('that print %s have not answered', async (text) => {
    await hooksOf({ managed: [entry('PreToolUse', `printf '%s' '${text}'`)] }).pre(CALL)
    expect(errorOf()).toBe('hook returned invalid pre-tool-use JSON output')
  })

  it('may print text for people', async () => {
    await hooksOf({ managed: [entry('PreToolUse', 'echo checked')] }).pre(CALL)
    expect(reports.at(-1)?.run).toMatchObject({ status: 'completed', entries: [] })
  })

  it('block with status 2 also where they say nothing', async () => {
    const outcome = await hooksOf({ managed: [entry('PreToolUse', 'exit 2')] }).pre(CALL)
    expect(outcome).toMatchObject({ is: 'refused', error: { code: 'hook_blocked' } })
  })

  it('end with the call that is cancelled', async () => {
    const abort = new AbortController()
    const hooks = hooksOf({ managed: [entry('PreToolUse', 'touch started; exec sleep 600')] })
    const waiting = hooks.pre(CALL, abort.signal)
    await vi.waitFor(() => expect(existsSync(join(folder, 'started'))).toBe(true), { timeout: 10_000 })
    abort.abort()
    await expect(waiting).rejects.toMatchObject({ code: 'cancelled' })
    expect(local.running).toBe(0)
  })
})

describe('functions', () => {
  it('that throw, or answer what is no answer, have not answered', async () => {
    await hooksOf({ functions: [returning(undefined, { run: () => Promise.reject(new Error('broke')) })] }).pre(CALL)
    expect(errorOf()).toBe('broke')
    const throws = returning(undefined, {
      run: () => {
        throw new Error('broke at once')
      },
    })
    await hooksOf({ functions: [throws] }).pre(CALL)
    expect(errorOf()).toBe('broke at once')
    await hooksOf({ functions: [returning({ tool_name: 'x' })] }).pre(CALL)
    expect(errorOf()).toBe('hook returned invalid pre-tool-use JSON output')
  })

  it('that hang are left behind', async () => {
    const hooks = hooksOf({ functions: [returning(undefined, { run: () => new Promise(() => {}), timeoutMs: 20 })] })
    expect(await hooks.pre(CALL)).toMatchObject({ is: 'go' })
    expect(errorOf()).toBe('hook timed out after 0.02s')
  })

  it('can’t reach the arguments of the call', async () => {
    const hooks = hooksOf({
      functions: [
        returning(undefined, { run: (input) => void Object.assign(input.tool_input as object, { text: 'y' }) }),
      ],
    })
    expect(await hooks.pre(CALL)).toMatchObject({ is: 'go', input: { text: 'x' } })
    expect(CALL.toolInput).toEqual({ text: 'x' })
  })
})

describe('several hooks', () => {
  it('run at the same time', async () => {
    const meet = (own: string, other: string) => `touch ${own}; while [ ! -e ${other} ]; do sleep 0.01; done`
    const hooks = hooksOf({
      managed: [entry('PreToolUse', meet('a', 'b'), {}, 0), entry('PreToolUse', meet('b', 'a'), {}, 1)],
    })
    await hooks.pre(CALL)
    expect(reports.map(({ run }) => run.status)).toEqual(['running', 'running', 'completed', 'completed'])
  })

  it('deny as soon as one does, whatever others want', async () => {
    const hooks = hooksOf({ functions: [rewriting({ text: 'y' }), DENY, rewriting({ text: 'z' })] })
    expect(await hooks.pre(CALL)).toMatchObject({ is: 'refused', error: { code: 'hook_blocked' } })
    const answering = (decision: JsonObject) =>
      returning({ hookSpecificOutput: { decision } }, { event: 'PermissionRequest' })
    const allow = answering({ behavior: 'allow' })
    const deny = answering({ behavior: 'deny', message: 'not you' })
    expect(await hooksOf({ functions: [allow, deny] }).permission(CALL)).toMatchObject({
      is: 'deny',
      error: { code: 'hook_denied', message: 'not you' },
    })
    expect(await hooksOf({ functions: [allow] }).permission(CALL)).toEqual({ is: 'allow', isManaged: false })
  })

  it('that rewrite the same way agree, and otherwise the call is refused', async () => {
    const agreeing = hooksOf({ functions: [rewriting({ text: 'y' }), rewriting({ text: 'y' })] })
    expect(await agreeing.pre(CALL)).toMatchObject({ is: 'go', input: { text: 'y' }, isRewritten: true })
    const others = hooksOf({ functions: [rewriting({ text: 'y' }), rewriting({ text: 'z' })] })
    expect(await others.pre(CALL)).toMatchObject({ is: 'refused', error: { code: 'hooks_disagree' } })
  })

  it('say everything to a result, and a stop goes before the rest', async () => {
    const block = (reason: string) => returning({ decision: 'block', reason }, { event: 'PostToolUse' })
    const stop = returning({ continue: false, stopReason: 'enough' }, { event: 'PostToolUse' })
    const context = returning({ hookSpecificOutput: { additionalContext: 'mind' } }, { event: 'PostToolUse' })
    const blocked = await hooksOf({ functions: [block('a'), block('b'), context] }).post(CALL, {})
    expect(blocked).toEqual({ replacement: 'a\n\nb', isStop: false, context: ['mind'] })
    expect(await hooksOf({ functions: [block('a'), stop] }).post(CALL, {})).toEqual({
      replacement: 'enough',
      isStop: true,
      context: [],
    })
  })
})

describe('a rewrite', () => {
  it.each([['text'], [null], [[1]], [5]])('to %j is refused', async (value) => {
    expect(await hooksOf({ functions: [rewriting(value)] }).pre(CALL)).toMatchObject({
      is: 'refused',
      error: { code: 'arguments_not_object' },
    })
    expect(await hooksOf({ functions: [rewriting(value)] }).pre(OWNED)).toMatchObject({
      is: 'refused',
      error: { code: 'rewrite_not_object' },
    })
  })

  it.each([
    [{ environment_id: 'other' }],
    [{ environment_id: 'DEVBOX' }],
    [{ environment_id: 'dev\u200bbox' }],
    [{ environment_id: ' ' }],
    [{ environment_id: '' }],
    [{ environment_id: ['devbox'] }],
    [{ environment_id: { toString: 'devbox' } }],
    [{ environment_id: null }],
    [{ server: 'Notes' }],
    [{ server: null }],
    [{ server: 'notes', environment_id: 'local' }],
  ])('to %j does not change the owner', async (changed) => {
    const hooks = hooksOf({ functions: [rewriting({ ...(OWNED.toolInput as JsonObject), ...changed })] })
    expect(await hooks.pre(OWNED)).toMatchObject({ is: 'refused', error: { code: 'hook_changed_owner' } })
  })

  it.each([
    ['environmentId'],
    ['environment-id'],
    ['ENVIRONMENT_ID'],
    ['environment_id '],
    ['__proto__'],
    ['constructor'],
  ])('that says %s says nothing about the environment', async (member) => {
    const updated = JSON.parse(`{"uri":"v",${JSON.stringify(member)}:{"environment_id":"other"}}`)
    const outcome = await hooksOf({ functions: [rewriting(updated)] }).pre(OWNED)
    if (outcome.is !== 'go') throw outcome.error
    expect(outcome.input).toMatchObject({ uri: 'v', server: 'notes', environment_id: 'devbox' })
    expect(Object.keys(outcome.input as object)).toContain(member)
  })

  it('without allow, or with ask, does not count', async () => {
    const without = returning({ hookSpecificOutput: { updatedInput: { text: 'y' } } })
    expect(await hooksOf({ functions: [without] }).pre(CALL)).toMatchObject({ is: 'go', isRewritten: false })
    expect(errorOf()).toBe('PreToolUse hook returned updatedInput without permissionDecision:allow')
  })
})

describe('whether a hook is for a call', () => {
  const seen = async (more: Partial<FunctionHook>, call = CALL) => {
    reports = []
    await hooksOf({ functions: [returning(undefined, more)] }).pre(call)
    return reports.length > 0
  }

  it('is said by server and environment as well as by name', async () => {
    expect(await seen({ server: 'notes' })).toBe(true)
    expect(await seen({ server: 'notes', environment: 'devbox' })).toBe(true)
    expect(await seen({ environment: 'other' })).toBe(false)
    expect(await seen({ server: 'mail' })).toBe(false)
    expect(await seen({ server: 'notes' }, { ...CALL, key: null })).toBe(false)
    expect(await seen({ server: 'notes', matcher: 'mcp__mail__.*' })).toBe(false)
  })

  it('is taken as yes by what restricts and as no by what allows when the expression comes to no end', async () => {
    const call = { ...CALL, toolName: `mcp__${'a'.repeat(60)}!` }
    expect(await seen({ matcher: '^mcp__(a+)+$' }, call)).toBe(true)
    const allow = returning(
      { hookSpecificOutput: { decision: { behavior: 'allow' } } },
      { event: 'PermissionRequest', matcher: '^mcp__(a+)+$' },
    )
    expect(await hooksOf({ functions: [allow] }).permission(call)).toEqual({ is: 'none' })
  })
})

describe('trust', () => {
  const of = (layer: 'user' | 'project', command = 'touch ran'): HookEntry => ({
    ...entry('PreToolUse', command),
    origin: { file: '/p', layer },
  })
  const known = async (hook: HookEntry, state?: { trustedHash?: string; enabled?: boolean }) => {
    rmSync(join(folder, 'ran'), { force: true })
    const states = new Map(state === undefined ? [] : [[hook.key, state]])
    const hooks = hooksOf({ configured: { entries: [hook], states } })
    await hooks.pre(CALL)
    const [listed] = hooks.list
    return { trust: listed?.trust, ran: existsSync(join(folder, 'ran')), has: hooks.has('PreToolUse') }
  }

  it('is needed by what a project brings, for exactly this hook', async () => {
    const hook = of('project')
    expect(await known(hook)).toEqual({ trust: 'untrusted', ran: false, has: false })
    expect(await known(hook, { trustedHash: hookHash(hook) })).toEqual({ trust: 'trusted', ran: true, has: true })
    const changed = of('project', 'touch ran; true')
    expect(await known(changed, { trustedHash: hookHash(hook) })).toEqual({ trust: 'modified', ran: false, has: false })
    const wider = { ...hook, matcher: 'mcp__.*' }
    expect(await known(wider, { trustedHash: hookHash(hook) })).toMatchObject({ trust: 'modified', ran: false })
  })

  it('is lost to a hook of a project that can’t be read any more, which holds nothing up', async () => {
    const hook = of('project')
    const handler = {
      type: 'broken',
      reason: 'its configuration is broken',
      timeoutMs: 1000,
      onFailure: 'block',
    } as const
    const broken: HookEntry = { ...hook, handler }
    const state = { trustedHash: hookHash(hook) }
    expect(await known(broken, state)).toEqual({ trust: 'modified', ran: false, has: false })
    const hooks = hooksOf({ configured: { entries: [broken], states: new Map([[hook.key, state]]) } })
    expect(await hooks.pre(CALL)).toMatchObject({ is: 'go' })
  })

  it('is given to the user’s own file, which may switch a hook off', async () => {
    expect(await known(of('user'))).toEqual({ trust: 'trusted', ran: true, has: true })
    expect(await known(of('user'), { enabled: false })).toEqual({ trust: 'trusted', ran: false, has: false })
  })

  it('is not asked of the administrator’s', async () => {
    const hook = entry('PreToolUse', 'touch ran')
    const states = new Map([[hook.key, { enabled: false, trustedHash: 'sha256:0' }]])
    const hooks = hooksOf({ managed: [hook], configured: { entries: [], states } })
    await hooks.pre(CALL)
    expect(hooks.list).toMatchObject([{ trust: 'managed', source: 'managed', isEnabled: true }])
    expect(existsSync(join(folder, 'ran'))).toBe(true)
  })
})

describe('reports', () => {
  it('tell of the run before and after it', async () => {
    const hooks = hooksOf({ managed: [entry('PreToolUse', 'exit 2', { statusMessage: 'checking' })], now: () => 1000 })
    await hooks.pre(CALL)
    const run = {
      id: 'pre-tool-use:0:/etc/hooks:call-1',
      eventName: 'preToolUse',
      handlerType: 'command',
      executionMode: 'sync',
      scope: 'turn',
      sourcePath: '/etc/hooks',
      source: 'managed',
      displayOrder: 0,
      status: 'running',
      statusMessage: 'checking',
      startedAt: 1000,
      completedAt: null,
      durationMs: null,
      entries: [],
    }
    const about = { threadId: 'thread', turnId: null }
    expect(reports).toEqual([
      { type: 'hook/started', ...about, run },
      {
        type: 'hook/completed',
        ...about,
        run: {
          ...run,
          status: 'blocked',
          completedAt: 1000,
          durationMs: 0,
          entries: [{ kind: 'feedback', text: 'a PreToolUse hook ended with status 2 and gave no reason' }],
        },
      },
    ])
  })
})
