import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  Approver,
  contextEnvironment,
  fallbackPromptParams,
  hintsOf,
  needsApproval,
  type PromptFacts,
  plannedAction,
  promptParams,
  reviewSchema,
} from '../../src/authority/index.js'
import { approvalModeOf, underPluginOverlay } from '../../src/catalog/index.js'
import { serverKey } from '../../src/identity/index.js'
import type { JsonObject } from '../../src/protocol/index.js'
import { approvalCall, KeptApprovals } from '../fixtures/authority/approval-call.js'
import { stdioConfig } from '../fixtures/server-config.js'
import { Policy } from './approval-policy.js'
import { oursOf, type VectorCase, vectorCases } from './cases.js'
import { expectInOrder } from './in-order.js'

const FILE = 'approvals.json'
const CASES = vectorCases(FILE)

const Mode = z.enum(['auto', 'prompt', 'writes', 'approve'])
const Hints = z.record(z.string(), z.json()).nullable()
const Profile = z.enum(['read-only', 'workspace-write', 'danger-full-access'])

/** Kinds of cases, each with what it comes to. `compatibility`: as the reference does where it does less. */
const KINDS: Readonly<Record<string, (input: VectorCase['input'], compatibility: boolean) => unknown>> = {
  decision: (input, compatibility) => decided(Decision.parse(input), compatibility),
  overlay: async (input, compatibility) => {
    const { pluginPolicy, ...rest } = Overlay.parse(input)
    const mode = tightened(pluginPolicy)
    return { effectiveMode: mode, ...(await decided({ ...rest, mode }, compatibility)) }
  },
  annotations: (input) => {
    const { mode, annotations } = z.looseObject({ mode: Mode, annotations: Hints }).parse(input)
    return { needsApproval: needsApproval(mode, hintsOf({ annotations })) }
  },
  memory: async (input, compatibility) => {
    const { steps } = z.looseObject({ steps: z.array(Step) }).parse(input)
    return { asked: await askedOf(steps, new Approver({ durable: new KeptApprovals(), compatibility })) }
  },
  memoryThreads: async (input, compatibility) => {
    const { threads } = z.looseObject({ threads: z.array(z.array(Step)) }).parse(input)
    const durable = new KeptApprovals()
    const asked: boolean[][] = []
    for (const steps of threads) asked.push(await askedOf(steps, new Approver({ durable, compatibility })))
    return { asked, written: [] }
  },
  prompt: async (input, compatibility) => ({
    method: 'mcpServer/elicitation/request',
    params: { ...promptParams(await promptOf(input, compatibility)), threadId: '<thread-id>', turnId: '<turn-id>' },
  }),
  promptMessage: async (input, compatibility) => {
    const { message, environmentId } = promptParams(await promptOf(input, compatibility))
    return { message, environmentId }
  },
  fallbackPrompt: async (input, compatibility) => {
    const params = fallbackPromptParams(await promptOf(input, compatibility))
    const { questions, isBlocking, autoResolutionMs } = z
      .object({ questions: z.tuple([Question]), isBlocking: z.boolean(), autoResolutionMs: z.null() })
      .parse(params)
    const [{ id, question, isOther, isSecret, options }] = questions
    return {
      method: 'item/tool/requestUserInput',
      questionId: id,
      question,
      isOther,
      isSecret,
      optionLabels: options.map(({ label }) => label),
      isBlocking,
      autoResolutionMs,
    }
  },
  outcome: async (input) => {
    const { answer, approvalPolicy = 'on-request' } = z
      .looseObject({ answer: z.json(), approvalPolicy: Policy.optional() })
      .parse(input)
    const decision = await new Approver().decide(approvalCall({ policy: approvalPolicy, callId: 'call_3' }), {
      user: async () => answer,
    })
    return { outcome: decision.outcome, ...(decision.outcome !== 'run' && { text: decision.text }) }
  },
  toolReview: (input, compatibility) => reviewed(input, compatibility),
  reviewSchema: () => {
    const { required, properties, additionalProperties } = z
      .object({
        required: z.array(z.string()),
        properties: z.record(z.string(), z.looseObject({ enum: z.array(z.string()).optional() })),
        additionalProperties: z.boolean(),
      })
      .parse(reviewSchema())
    const enums = Object.entries(properties).flatMap(([name, { enum: values }]) => (values ? [[name, values]] : []))
    // Whether the answer is held to the schema is the model's provider's business.
    return {
      strict: false,
      required,
      enums: Object.fromEntries(enums),
      properties: Object.keys(properties),
      additionalProperties,
    }
  },
  plannedAction: (input, compatibility) => {
    const { serverName, environmentId, tool, ...rest } = z
      .looseObject({
        serverName: z.string(),
        environmentId: z.string(),
        tool: z.string(),
        arguments: z.record(z.string(), z.json()),
        annotations: Hints,
      })
      .parse(input)
    const { arguments: args, annotations } = rest
    const key = serverKey(serverName, environmentId)
    const action = plannedAction({ key, tool, arguments: args, annotations }, { compatibility })
    const keys = Object.keys(action)
    return {
      action,
      keysSorted: keys.join() === [...keys].sort().join(),
      environmentInAction: 'environment_id' in action,
    }
  },
  reviewPermissionContext: (input) => contextOf(input),
}

/** What a host makes of a refusal is the host's: an item, and an output to the model. */
const OF_THE_HOST = new Set(['refusedOutput'])

describe('approvals', () => {
  for (const one of CASES.filter(({ input }) => !OF_THE_HOST.has(input.kind))) {
    const ours = oursOf(FILE, one)
    const answer = (compatibility: boolean) => KINDS[one.input.kind]?.(one.input, compatibility)
    it(ours === undefined ? one.name : `${one.name}, ours`, async () => {
      expectInOrder(await answer(false), ours ?? one.expected)
    })
    // Where the mode keeps the reference's answer; contradictory hints and configuration files stay as they are.
    if (ours !== undefined && one.input.kind !== 'annotations' && one.input.kind !== 'memoryThreads')
      it(`${one.name}, in compatibility mode`, async () => {
        expectInOrder(await answer(true), one.expected)
      })
  }

  it('leaves nothing but the output of a refused call to the host', () => {
    expect(CASES.filter(({ input }) => OF_THE_HOST.has(input.kind))).toHaveLength(1)
    expect(CASES.filter(({ input }) => !(input.kind in KINDS)).map(({ name }) => name)).toEqual([
      'output shape of a refused call',
    ])
  })
})

const Question = z.looseObject({
  id: z.string(),
  question: z.string(),
  isOther: z.boolean(),
  isSecret: z.boolean(),
  options: z.array(z.looseObject({ label: z.string() })),
})

const Decision = z.looseObject({
  mode: Mode,
  annotations: Hints,
  approvalPolicy: Policy,
  permissionProfile: Profile,
  environmentScoped: z.boolean().default(false),
})

const Overlay = Decision.omit({ mode: true }).extend({
  pluginPolicy: z.object({ default_tools_approval_mode: Mode.nullable(), toolMode: Mode.nullable() }),
})

/** What the catalog makes of an overlay on a server of an environment. */
function tightened({ default_tools_approval_mode: byDefault, toolMode }: z.infer<typeof Overlay>['pluginPolicy']) {
  const { config } = underPluginOverlay(
    {
      key: serverKey('notes', 'enva'),
      source: {
        kind: 'selected_plugin',
        order: 0,
        plugin: { id: 'rootA', displayName: 'rootA', agentPlugin: false },
      },
      config: stdioConfig(),
    },
    new Map([
      [
        'rootA',
        {
          servers: new Map([
            [
              'notes',
              {
                ...(byDefault && { defaultToolsApprovalMode: byDefault }),
                ...(toolMode && { tools: { tool: { approvalMode: toolMode } } }),
              },
            ],
          ]),
        },
      ],
    ]),
  )
  return approvalModeOf(config, 'tool')
}

async function decided(
  { mode, annotations, approvalPolicy, permissionProfile, environmentScoped }: z.infer<typeof Decision>,
  compatibility: boolean,
): Promise<object> {
  const prompts: PromptFacts[] = []
  const approver = new Approver({ durable: new KeptApprovals(), compatibility })
  const decision = await approver.decide(
    approvalCall({
      mode,
      definition: { name: 'tool', ...(annotations && { annotations }) },
      policy: approvalPolicy,
      profile: permissionProfile,
      environment: environmentScoped ? 'enva' : null,
    }),
    {
      user: async (prompt) => {
        prompts.push(prompt)
        return { action: 'cancel' }
      },
    },
  )
  const [prompt] = prompts
  if (prompt !== undefined) return { decision: 'ask', persist: offerOf(prompt) }
  return decision.outcome === 'run' ? { decision: 'run' } : { decision: 'reject', text: decision.text }
}

function offerOf(prompt: PromptFacts): unknown {
  return (
    z.looseObject({ _meta: z.looseObject({ persist: z.unknown().optional() }) }).parse(promptParams(prompt))._meta
      .persist ?? null
  )
}

const Step = z.object({
  serverName: z.string(),
  environmentId: z.string().nullable(),
  pluginId: z.string().nullable(),
  tool: z.string(),
  mode: Mode,
  answer: z
    .union([
      z.object({ action: z.string(), persist: z.string().nullable().optional() }),
      z.object({ label: z.string() }),
    ])
    .optional(),
})

/** Which of the calls were asked for. */
async function askedOf(steps: readonly z.infer<typeof Step>[], approver: Approver): Promise<boolean[]> {
  const asked: boolean[] = []
  for (const { serverName, environmentId, pluginId, tool, mode, answer } of steps) {
    let wasAsked = false
    const call = approvalCall({ name: serverName, environment: environmentId, pluginId, tool, mode })
    const decision = await approver.decide(call, {
      user: async ({ callId }) => {
        wasAsked = true
        if (answer === undefined) throw new Error('asked for the second time')
        if ('label' in answer) return { answers: { [`mcp_tool_call_approval_${callId}`]: { answers: [answer.label] } } }
        return { action: answer.action, content: null, _meta: answer.persist ? { persist: answer.persist } : null }
      },
    })
    approver.remember(decision)
    asked.push(wasAsked)
  }
  return asked
}

async function promptOf(input: VectorCase['input'], compatibility: boolean): Promise<PromptFacts> {
  const one = z
    .looseObject({
      serverName: z.string(),
      environmentId: z.string().nullable(),
      tool: z.string(),
      toolTitle: z.string().optional(),
      toolDescription: z.string().optional(),
      annotations: Hints.optional(),
      arguments: z.record(z.string(), z.json()).optional(),
      mode: Mode.default('auto'),
      callId: z.string().optional(),
      multiEnvironment: z.boolean().default(true),
    })
    .parse(input)
  const prompts: PromptFacts[] = []
  const call = approvalCall({
    name: one.serverName,
    environment: one.environmentId,
    tool: one.tool,
    mode: one.mode,
    ...(one.callId !== undefined && { callId: one.callId }),
    multiEnvironment: one.multiEnvironment,
    ...(one.arguments && { args: one.arguments }),
    definition: {
      name: one.tool,
      ...(one.toolTitle !== undefined && { title: one.toolTitle }),
      ...(one.toolDescription !== undefined && { description: one.toolDescription }),
      ...(one.annotations && { annotations: one.annotations }),
    },
  })
  await new Approver({ durable: new KeptApprovals(), compatibility }).decide(call, {
    user: async (prompt) => {
      prompts.push(prompt)
      return { action: 'cancel' }
    },
  })
  const [prompt] = prompts
  if (prompt === undefined) throw new Error('not asked')
  return prompt
}

async function reviewed(input: VectorCase['input'], compatibility: boolean): Promise<object> {
  const { serverName, environmentId, tool, callId, verdict } = z
    .looseObject({
      serverName: z.string(),
      environmentId: z.string(),
      tool: z.string(),
      callId: z.string(),
      verdict: z.json(),
    })
    .parse(input)
  const notifications: object[] = []
  const report = (method: string, params: JsonObject) => notifications.push({ method, params })
  let userAsked = false
  const decision = await new Approver({ compatibility, review: { report } }).decide(
    { ...approvalCall({ name: serverName, environment: environmentId, tool, callId }), reviewer: 'auto_review' },
    {
      reviewer: { review: async () => verdict },
      user: async () => {
        userAsked = true
      },
    },
  )
  return {
    outcome: decision.outcome,
    userAsked,
    ...(decision.outcome !== 'run' && { textStartsWith: decision.text }),
    notifications,
  }
}

function contextOf(input: VectorCase['input']): object {
  const { selectedEnvironments, server, deniedReads } = z
    .looseObject({
      selectedEnvironments: z.array(z.string()),
      server: z.looseObject({ environmentId: z.string().nullable() }),
      deniedReads: z.record(z.string(), z.array(z.string())),
    })
    .parse(input)
  const environment = contextEnvironment(serverKey('notes', server.environmentId), selectedEnvironments[0] ?? null)
  return { contextEnvironment: environment, deniedReads: environment === null ? [] : deniedReads[environment] }
}
