import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { notes, notesToml, ThreadWorld } from '../../test/fixtures/threads/thread-world.js'
import { auditOutcome, type FunctionHook, type HookReport } from '../authority/index.js'
import { openStore } from '../store/index.js'
import type { Step } from './types.js'

const RECORD = ['--record', 'frames']
const DENY = { hookSpecificOutput: { permissionDecision: 'deny', permissionDecisionReason: 'no' } }

const hook = (event: FunctionHook['event'], run: FunctionHook['run']): FunctionHook => ({ event, name: event, run })
const sent = (world: ThreadWorld, name = 'frames', method = 'tools/call') =>
  world.received(name).filter((frame) => frame.method === method)

function tool(step: Step) {
  const found = step.tools.find((one) => one.tool === 'whoami')
  if (found === undefined) throw new Error('nothing is offered')
  return found
}

describe('hooks around the calls of a step', () => {
  it('run in order: before, permission, the call, after', async () => {
    await using world = await ThreadWorld.open({
      config: notesToml('p', RECORD, 'default_tools_approval_mode = "prompt"'),
    })
    const order: string[] = []
    const seen = (name: string) => () => void order.push(name)
    await using thread = await world.reeve.startThread({
      hooks: [
        hook('PreToolUse', seen('pre')),
        hook('PermissionRequest', seen('permission')),
        hook('PostToolUse', seen('post')),
      ],
      onApproval: async () => {
        order.push('user')
        return 'approve'
      },
    })
    const step = await thread.step({ wait: 'all' })
    await step.call({ ...tool(step), arguments: {} })
    expect(order).toEqual(['pre', 'permission', 'user', 'post'])
  })

  it('send other arguments, tell the model more, and replace the result', async () => {
    await using world = await ThreadWorld.open({ config: notesToml('p', RECORD) })
    const inputs: unknown[] = []
    const context: string[] = []
    await using thread = await world.reeve.startThread({
      hooks: [
        hook('PreToolUse', () => ({
          hookSpecificOutput: { permissionDecision: 'allow', updatedInput: { note: 'y' }, additionalContext: 'before' },
        })),
        hook('PostToolUse', (input) => {
          inputs.push(input.tool_input)
          return { decision: 'block', reason: 'not for you' }
        }),
      ],
    })
    const step = await thread.step({ wait: 'all' })
    const result = await step.call(
      { ...tool(step), arguments: { note: 'x' } },
      { onContext: (text) => context.push(text) },
    )
    expect(sent(world)[0]?.params?.arguments).toEqual({ note: 'y' })
    expect(inputs).toEqual([{ note: 'y' }])
    expect(context).toEqual(['before'])
    expect(result).toEqual({ content: [{ type: 'text', text: 'not for you' }], isError: true })
  })

  it('keep a call from being made, which is recorded as theirs', async () => {
    await using world = await ThreadWorld.open({
      config: notesToml('p', RECORD, 'default_tools_approval_mode = "prompt"'),
    })
    const deny = { hookSpecificOutput: { decision: { behavior: 'deny', message: 'not now' } } }
    await using blocked = await world.reeve.startThread({ hooks: [hook('PreToolUse', () => DENY)] })
    await using denied = await world.reeve.startThread({ hooks: [hook('PermissionRequest', () => deny)] })
    const before = await blocked.step({ wait: 'all' })
    await expect(before.callFlat(tool(before).flat, {})).rejects.toMatchObject({
      code: 'hook_blocked',
      message: 'Tool call blocked by PreToolUse hook: no. Tool: mcp__p__whoami',
    })
    const asking = await denied.step({ wait: 'all' })
    await expect(asking.callFlat(tool(asking).flat, {})).rejects.toThrow('not now')
    expect(sent(world)).toEqual([])
    await world.reeve.close()
    using store = openStore(join(world.folder, 'state.sqlite'))
    const records = store.audit.query({ limit: 10 })
    expect(records.map((one) => [one.decision, one.decidedBy, auditOutcome(one)])).toEqual([
      ['rejected', 'hook', 'refused'],
      ['rejected', 'hook', 'refused'],
    ])
  })

  it('allow a call once, without anybody asked', async () => {
    await using world = await ThreadWorld.open({
      config: notesToml('p', RECORD, 'default_tools_approval_mode = "prompt"'),
    })
    const allow = { hookSpecificOutput: { decision: { behavior: 'allow' } } }
    await using thread = await world.reeve.startThread({ hooks: [hook('PermissionRequest', () => allow)] })
    const step = await thread.step({ wait: 'all' })
    await step.callFlat(tool(step).flat, {})
    expect(sent(world)).toHaveLength(1)
  })

  it('can’t move a resource function to another environment', async () => {
    const servers = { notes: notes('--record', '../../frames') }
    await using world = await ThreadWorld.open({
      executors: ['enva', 'envb'],
      plugins: ['enva', 'envb'].map((environment) => ({ id: `root-${environment}`, environment, servers })),
    })
    const move = hook('PreToolUse', (input) => ({
      hookSpecificOutput: {
        permissionDecision: 'allow',
        updatedInput: { ...(input.tool_input as object), environment_id: 'envb' },
      },
    }))
    await using thread = await world.reeve.startThread({
      environments: world.select('enva', 'envb'),
      capabilityRoots: world.roots,
      hooks: [move],
    })
    const step = await thread.step({ wait: 'all' })
    const before = sent(world, 'frames', 'resources/list').length
    const refused = await step.callFunction('list_mcp_resources', { server: 'notes', environment_id: 'enva' })
    expect(refused.output).toBe('PreToolUse hook cannot change the tool environment (environment_id)')
    expect(refused.error).toMatchObject({ code: 'hook_changed_owner' })
    expect(sent(world, 'frames', 'resources/list')).toHaveLength(before)
    const same = await step.callFunction('list_mcp_resources', '{"server":"notes","environment_id":" envb "}')
    expect(JSON.parse(same.output)).toMatchObject({ environment_id: 'envb' })
  })
})

describe('hooks of a configuration', () => {
  it('are commands of the host, and follow a reload', async () => {
    const command = (text: string) =>
      `${notesToml('p')}[[hooks.PreToolUse]]\nmatcher = "mcp__p__.*"\n[[hooks.PreToolUse.hooks]]\ntype = "command"\ncommand = '''${text}'''\n`
    await using world = await ThreadWorld.open({ config: command('echo closed >&2; exit 2') })
    const reports: HookReport[] = []
    await using thread = await world.reeve.startThread({ onHook: (report) => reports.push(report) })
    const step = await thread.step({ wait: 'all' })
    await expect(step.callFlat(tool(step).flat, {})).rejects.toThrow('closed')
    expect(reports.map(({ run }) => run.status)).toEqual(['running', 'blocked'])
    world.write('config.toml', command('pwd > at'))
    await world.reeve.reload()
    await step.callFlat(tool(step).flat, {})
    expect(reports.map(({ run }) => run.status)).toEqual(['running', 'blocked', 'running', 'completed'])
  })

  it('call a tool without approval and without hooks of their own', async () => {
    const config = [
      notesToml('p', RECORD),
      notesToml('guard', ['--record', 'guarded'], 'default_tools_approval_mode = "prompt"'),
      '[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ntype = "mcp_tool"\nserver = "guard"\ntool = "whoami"\n',
      'input = { note = "$' + '{tool_input.note}" }\n',
    ].join('')
    await using world = await ThreadWorld.open({ config })
    await using thread = await world.reeve.startThread()
    const step = await thread.step({ wait: 'all' })
    await step.callFlat(step.tools.find(({ key, tool: name }) => key.name === 'p' && name === 'whoami')?.flat ?? '', {
      note: 'x',
    })
    const [asked, ...more] = sent(world, 'guarded')
    expect(asked?.params?.arguments).toEqual({ note: 'x' })
    expect(more).toEqual([])
    expect(sent(world)).toHaveLength(1)
  })

  it('of a file that was named by hand do nothing until they are trusted', async () => {
    const text = `${notesToml('p')}[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\ntype = "command"\ncommand = "exit 2"\n`
    await using world = await ThreadWorld.open()
    const file = join(world.folder, 'named.toml')
    writeFileSync(file, text)
    const reeve = await world.reopen({ configFiles: [file] })
    expect(reeve.hooks).toMatchObject([{ trust: 'untrusted', handlerType: 'command', sourcePath: file }])
    const [problem] = reeve.problems
    expect(problem).toMatchObject({
      severity: 'warning',
      code: 'untrusted_hook',
      place: expect.stringMatching(/named\.toml:\d+$/),
    })
    await using thread = await reeve.startThread()
    const step = await thread.step({ wait: 'all' })
    await expect(step.callFlat(tool(step).flat, {})).resolves.toBeDefined()
    const [{ key, currentHash } = { key: '', currentHash: '' }] = reeve.hooks
    expect(problem?.message).toContain(`reeve --config ${file} hooks trust ${key}, which notes ${currentHash}`)
    writeFileSync(file, `${text}[hooks.state.${JSON.stringify(key)}]\ntrusted_hash = "${currentHash}"\n`)
    await reeve.reload()
    expect(reeve.problems).toEqual([])
    await expect(step.callFlat(tool(step).flat, {})).rejects.toMatchObject({ code: 'hook_blocked' })
  })
})
