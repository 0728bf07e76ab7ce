import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { notes, notesToml, ThreadWorld } from '../../test/fixtures/threads/thread-world.js'
import type { ThreadEvent, ThreadOptions } from './types.js'

const RECORD = ['--record', 'frames']

/** A world under a requirements file. */
async function underRequirements(demands: string, config: string): Promise<ThreadWorld> {
  const world = await ThreadWorld.open({ config })
  const file = world.write('managed.toml', demands)
  await world.reopen({ env: { PATH: process.env.PATH, HOME: world.folder, REEVE_REQUIREMENTS: file } })
  return world
}

const sent = (world: ThreadWorld, name = 'frames') =>
  (existsSync(join(world.folder, name)) ? world.received(name) : []).filter(({ method }) => method === 'tools/call')
const command = (event: string, line: string) =>
  `[[hooks.${event}]]\nmatcher = "mcp__p__whoami"\nhooks = [{ type = "command", command = ${JSON.stringify(line)} }]\n`
const BLOCK = command('PreToolUse', 'echo "not on this machine" >&2; exit 2')
const CALL = { server: 'p', tool: 'whoami' }

describe('a call that belongs to no step', () => {
  it('is blocked by a hook of the administrator, and by none of the user', async () => {
    await using managed = await underRequirements(BLOCK, notesToml('p', RECORD))
    await using blocked = await managed.reeve.startThread()
    await expect(blocked.callTool(CALL)).rejects.toMatchObject({
      code: 'hook_blocked',
      message: expect.stringContaining('not on this machine. Tool: mcp__p__whoami'),
    })
    expect(sent(managed)).toEqual([])
    await using own = await underRequirements('', notesToml('p', RECORD) + BLOCK)
    const runs: string[] = []
    const run = () => void runs.push('run')
    await using free = await own.reeve.startThread({ hooks: [{ event: 'PreToolUse', name: 'mine', run }] })
    await free.callTool(CALL)
    expect([sent(own).length, runs]).toEqual([1, []])
  })

  it('has the arguments and the result that the administrator’s hooks want', async () => {
    const rewrite = JSON.stringify({
      hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'allow', updatedInput: { note: 'y' } },
    })
    const demands = command('PreToolUse', `echo '${rewrite}'`) + command('PostToolUse', 'echo withheld >&2; exit 2')
    await using world = await underRequirements(demands, notesToml('p', RECORD))
    await using thread = await world.reeve.startThread()
    const result = await thread.callTool({ ...CALL, arguments: { note: 'x' } })
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('withheld') }] })
    expect(sent(world)).toMatchObject([{ params: { arguments: { note: 'y' } } }])
  })

  it('is not permitted where the administrator’s hook denies it', async () => {
    const deny = JSON.stringify({
      hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: { behavior: 'deny', message: 'not now' } },
    })
    const config = notesToml('p', RECORD, 'default_tools_approval_mode = "prompt"')
    await using world = await underRequirements(command('PermissionRequest', `echo '${deny}'`), config)
    await using thread = await world.reeve.startThread({ onApproval: async () => 'approve' })
    await expect(thread.callTool(CALL)).rejects.toThrow('not now')
    expect(sent(world)).toEqual([])
  })

  it('that a hook makes has none around it', async () => {
    const calls = `[[hooks.PostToolUse]]\nhooks = [{ type = "mcp_tool", server = "log", tool = "whoami" }]\n`
    const config = notesToml('p', RECORD) + notesToml('log', ['--record', 'logged'])
    await using world = await underRequirements(calls, config)
    await using thread = await world.reeve.startThread()
    await thread.callTool(CALL)
    expect([sent(world).length, sent(world, 'logged').length]).toEqual([1, 1])
  })
})

describe('a policy wider than the requirements allow', () => {
  const prompt = `sandbox_mode = "danger-full-access"\n${notesToml('p', RECORD, 'default_tools_approval_mode = "prompt"')}`
  const asking = (policy: ThreadOptions['approvalPolicy'], events: ThreadEvent[]): ThreadOptions => ({
    ...(policy && { approvalPolicy: policy }),
    onEvent: (event) => events.push(event),
  })
  const problems = (events: readonly ThreadEvent[]) =>
    events.flatMap((event) => (event.type === 'problem' ? [event.problem.code] : []))

  it('does not run what has to be asked about, whether the thread or one step has it', async () => {
    await using world = await underRequirements('allowed_approval_policies = ["on-request"]\n', prompt)
    const events: ThreadEvent[] = []
    await using thread = await world.reeve.startThread(asking('never', events))
    await expect(thread.callTool(CALL)).rejects.toMatchObject({ code: 'approval_required' })
    await using other = await world.reeve.startThread(asking(undefined, events))
    const step = await other.step({ wait: 'all', approvals: { policy: 'never' } })
    await expect(step.call({ namespace: 'mcp__p', name: 'whoami', arguments: {} })).rejects.toMatchObject({
      code: 'approval_required',
    })
    expect(sent(world)).toEqual([])
    expect(problems(events)).toEqual(['policy_not_allowed', 'policy_not_allowed'])
  })

  it('holds no more once full access is not allowed either', async () => {
    await using free = await underRequirements('', prompt)
    const events: ThreadEvent[] = []
    await using thread = await free.reeve.startThread(asking('never', events))
    await thread.callTool(CALL)
    expect([sent(free).length, problems(events)]).toEqual([1, []])
    await using world = await underRequirements('allowed_sandbox_modes = ["workspace-write"]\n', prompt)
    await using limited = await world.reeve.startThread(asking('never', events))
    await expect(limited.callTool(CALL)).rejects.toMatchObject({ code: 'approval_required' })
    expect(problems(events)).toContain('profile_not_allowed')
  })
})

describe('a policy for a plugin of an environment', () => {
  it('loosens it only where the environment is trusted with that plugin', async () => {
    const servers = { notes: { ...notes(...RECORD), default_tools_approval_mode: 'prompt' } }
    const policy = (trusted: string) =>
      `[plugins.root]\n${trusted}[plugins.root.mcp_servers.notes]\ndefault_tools_approval_mode = "approve"\n`
    await using world = await ThreadWorld.open({
      executors: ['enva'],
      plugins: [{ id: 'root', environment: 'enva', servers }],
      config: policy(''),
    })
    const call = async () => {
      await using thread = await world.reeve.startThread({
        environments: world.select('enva'),
        capabilityRoots: world.roots,
      })
      return await thread.callTool({ server: 'notes', environment: 'enva', tool: 'whoami' })
    }
    await expect(call()).rejects.toMatchObject({ code: 'approval_required' })
    for (const [trusted, allowed] of [
      ['trusted_in = ["other"]\n', false],
      ['trusted_in = ["enva"]\n', true],
    ] as const) {
      world.write('config.toml', policy(trusted))
      await world.reopen({ features: { multi_environment_mcp: true } })
      if (allowed) expect(await call()).toMatchObject({ content: [{ type: 'text' }] })
      else await expect(call()).rejects.toMatchObject({ code: 'approval_required' })
    }
  })
})
