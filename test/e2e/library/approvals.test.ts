import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ReviewRequest } from '../../../src/authority/index.js'
import type { ApprovalAnswer, ApprovalRequest, Thread, ThreadOptions } from '../../../src/reeve.js'
import { notes, notesToml, ThreadWorld } from '../../fixtures/threads/thread-world.js'

const plugin = (environment: string, ...args: string[]) => ({
  id: `notes@${environment}`,
  environment,
  servers: { notes: notes('--as', environment, ...args) },
})

let world: ThreadWorld
let asked: string[]
beforeEach(async () => {
  asked = []
  world = await ThreadWorld.open({
    executors: ['enva', 'envb'],
    plugins: [plugin('enva'), plugin('envb')],
    config: notesToml('mine', ['--as', 'here']),
  })
})
afterEach(() => world[Symbol.asyncDispose]())

/** A thread with a policy, in which somebody always answers the same. */
function thread(answer: ApprovalAnswer, options: ThreadOptions = {}): Promise<Thread> {
  return world.reeve.startThread({
    environments: world.select('enva', 'envb'),
    capabilityRoots: world.roots,
    approvalPolicy: 'on-request',
    onApproval: async ({ key, tool }: ApprovalRequest) => {
      asked.push(`${key.name} in ${key.environment}: ${tool}`)
      return answer
    },
    ...options,
  })
}

/** Where the tool that was called says it is. */
async function called(from: Thread, environment: string | null, tool = 'whoami'): Promise<string> {
  const step = await from.step({ wait: 'all' })
  const found = step.tools.find((one) => one.key.environment === environment && one.tool === tool)
  if (found === undefined) throw new Error(`no ${tool} in ${environment}`)
  return JSON.stringify(await step.call({ namespace: found.namespace, name: found.name, arguments: {} }))
}

describe('a thread with a policy', () => {
  it('is not started with one that is none, and takes no step with one', async () => {
    const odd = JSON.parse('{"approvalPolicy":"Never"}')
    await expect(thread('approve', odd)).rejects.toMatchObject({ code: 'invalid_arguments', place: 'approvalPolicy' })
    await using one = await thread('approve')
    const approvals = JSON.parse('{"policy":{"granular":1}}')
    await expect(one.step({ approvals })).rejects.toMatchObject({ place: 'approvals.policy' })
  })

  it('asks about one of two equal tools although the other was allowed, for the session', async () => {
    const one = await thread('approve_for_session')
    expect(await called(one, 'enva')).toContain('enva')
    await called(one, 'enva')
    expect(await called(one, 'envb')).toContain('envb')
    await called(one, 'envb')
    expect(asked).toEqual(['notes in enva: whoami', 'notes in envb: whoami'])
    await called(await thread('approve'), 'enva')
    expect(asked).toHaveLength(3)
  })

  it('remembers for good over a restart, of each environment and of its own servers, until the command changes', async () => {
    const first = await thread('approve_always')
    for (const environment of ['enva', null]) await called(first, environment)
    expect(asked).toEqual(['notes in enva: whoami', 'mine in null: whoami'])
    await world.reopen({ features: { multi_environment_mcp: true } })
    const second = await thread('decline')
    for (const environment of ['enva', null]) await called(second, environment)
    await expect(called(second, 'envb')).rejects.toMatchObject({ code: 'approval_required' })
    expect(asked.slice(2)).toEqual(['notes in envb: whoami'])

    world.rewrite('notes@enva', { notes: notes('--as', 'enva', '--sandbox') })
    await world.reopen({ features: { multi_environment_mcp: true } })
    await expect(called(await thread('decline'), 'enva')).rejects.toMatchObject({ code: 'approval_required' })
    expect(asked.at(-1)).toBe('notes in enva: whoami')
  })

  it('is refused under never, and asks nobody', async () => {
    const never = await thread('approve', { approvalPolicy: 'never' })
    await expect(called(never, 'enva')).rejects.toThrow('MCP tool call requires approval, but approval policy is never')
    expect(asked).toEqual([])
  })

  it('runs under never where the profile of its environment restricts nothing', async () => {
    const environments = world.select('enva', 'envb').map((place) => ({
      ...place,
      ...(place.id === 'enva' && { permissions: { type: 'disabled' } }),
    }))
    const never = await thread('approve', { approvalPolicy: 'never', environments })
    expect(await called(never, 'enva')).toContain('enva')
    await expect(called(never, 'envb')).rejects.toMatchObject({ code: 'approval_required' })
    expect(asked).toEqual([])
  })
})

describe('a call that is given up while somebody is asked', () => {
  it('is not made, and whoever was asked is told', async () => {
    world.write('config.toml', notesToml('mine', ['--as', 'here', '--record', join(world.folder, 'mine.record')]))
    await world.reopen({ features: { multi_environment_mcp: true } })
    const abort = new AbortController()
    let told = false
    const one = await thread('approve', {
      onApproval: (_request, signal) =>
        new Promise(() => {
          signal?.addEventListener('abort', () => {
            told = true
          })
          abort.abort()
        }),
    })
    const call = one.callTool({ server: 'mine', tool: 'wipe', arguments: {} }, { signal: abort.signal })
    await expect(call).rejects.toMatchObject({ code: 'cancelled' })
    expect(told).toBe(true)
    expect(world.received('mine.record').map(({ method }) => method)).not.toContain('tools/call')
  })
})

describe('a thread with a reviewer', () => {
  it('lets it judge instead of a person, by the profile of the owner', async () => {
    const reviews: unknown[] = []
    const reviewer = {
      review: async ({ key, action, contextEnvironment }: ReviewRequest) => {
        reviews.push([contextEnvironment, action.tool_name, action.environment_id])
        return { outcome: key.environment === 'enva' ? 'allow' : 'deny', rationale: 'not there' }
      },
    }
    const reviewed = await thread('approve', { reviewer })
    expect(await called(reviewed, 'enva')).toContain('enva')
    await expect(called(reviewed, 'envb')).rejects.toThrow('Reason: not there')
    expect(reviews).toEqual([
      ['enva', 'whoami', 'enva'],
      ['envb', 'whoami', 'envb'],
    ])
    expect(asked).toEqual([])
  })

  it('makes no call when it throws', async () => {
    const reviewer = { review: () => Promise.reject(new Error('no model')) }
    await expect(called(await thread('approve', { reviewer }), 'enva')).rejects.toThrow('no model')
  })
})

describe('a thread without a policy', () => {
  it('asks about nothing that is not configured', async () => {
    const plain = await world.reeve.startThread({
      environments: world.select('enva', 'envb'),
      capabilityRoots: world.roots,
    })
    for (const environment of ['enva', 'envb', null]) await called(plain, environment)
  })

  it('asks through its client, and names the environment', async () => {
    const questions: unknown[] = []
    world.write('config.toml', '[plugins."notes@envb".mcp_servers.notes]\ndefault_tools_approval_mode = "prompt"\n')
    await world.reopen({ features: { multi_environment_mcp: true } })
    const one = await world.reeve.startThread({
      environments: world.select('enva', 'envb'),
      capabilityRoots: world.roots,
      client: { capabilities: { elicitation: {} } },
      onRequest: async ({ key, method, params }) => {
        questions.push([key.environment, method, params?.message])
        return { action: 'accept', content: {} }
      },
    })
    expect(await called(one, 'envb')).toContain('envb')
    expect(questions).toEqual([
      ['envb', 'elicitation/create', 'Allow the notes MCP server to run tool "whoami"? Environment: envb.'],
    ])
  })
})
