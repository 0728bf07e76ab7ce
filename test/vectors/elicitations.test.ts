import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  answerElicitation,
  clientRequestParams,
  type ElicitationAuthority,
  ElicitationRouter,
  OutOfBandPauses,
  type ReviewRequest,
  reviewOfTurn,
  type SurfacedElicitation,
} from '../../src/authority/index.js'
import { RpcError } from '../../src/errors.js'
import { type ServerKey, serverKey } from '../../src/identity/index.js'
import { type ApprovalPolicy, type PermissionProfile, presetProfile } from '../../src/permissions/index.js'
import type { JsonObject } from '../../src/protocol/index.js'
import { Policy } from './approval-policy.js'
import { oursOf, type VectorCase, vectorCases } from './cases.js'
import { expectNamedInOrder } from './in-order.js'

const FILE = 'elicitations.json'

const Params = z.record(z.string(), z.json())
const Server = z.object({ serverName: z.string(), environmentId: z.string().nullable() })

const KINDS: Readonly<
  Record<string, (input: VectorCase['input'], compatibility: boolean) => object | Promise<object>>
> = {
  route: (input, compatibility) => routed(Route.parse(input), compatibility),
  clientRequest: async (input) => {
    const { server, request, origin } = z
      .looseObject({ server: Server, request: Params, origin: z.string() })
      .parse(input)
    const asked = await questionOf(keyOf(server), request, origin === 'turn' ? '<turn-id>' : null)
    return { params: asked }
  },
  reviewPermissions: (input, compatibility) => reviewedUnder(Reviewed.parse(input), compatibility),
  concurrent: (input) => concurrently(Concurrent.parse(input)),
  counter: (input) => ({
    results: z
      .looseObject({ calls: z.array(z.string()) })
      .parse(input)
      .calls.map(counter()),
  }),
}

describe('questions of servers', () => {
  for (const one of vectorCases(FILE)) {
    const ours = oursOf(FILE, one)
    const answer = (compatibility: boolean) => KINDS[one.input.kind]?.(one.input, compatibility) ?? {}
    it(ours === undefined ? one.name : `${one.name}, ours`, async () => {
      expectNamedInOrder(await answer(false), ours ?? one.expected)
    })
    // The owner's profile counts in either mode (known-quirks, 34).
    if (ours !== undefined && z.looseObject({ multiEnvironment: z.literal(false) }).safeParse(one.input).success)
      continue
    if (ours !== undefined)
      it(`${one.name}, in compatibility mode`, async () => {
        expectNamedInOrder(await answer(true), one.expected)
      })
  }
})

const Route = z.looseObject({
  reviewer: z.enum(['user', 'auto_review']),
  approvalPolicy: Policy,
  permissionProfile: z.enum(['workspace-write', 'danger-full-access']),
  server: Server,
  request: Params,
  verdict: z.json().optional(),
  clientAnswer: Params.optional(),
})

/** Through the whole chain, with a reviewer that gives the verdict of the case and a client that gives its answer. */
async function routed(one: z.infer<typeof Route>, compatibility: boolean): Promise<object> {
  const key = keyOf(one.server)
  const permissions = presetProfile(one.permissionProfile, { cwd: '/workspace' })
  const surfaced: SurfacedElicitation[] = []
  const reports: JsonObject[] = []
  const router: ElicitationRouter = new ElicitationRouter((question) => {
    surfaced.push(question)
    if (one.clientAnswer === undefined) throw new Error('the client was asked')
    router.resolve(question.key, question.id, one.clientAnswer)
  })
  const review = reviewOfTurn({
    turn: () => ({
      threadId: 'thread',
      policy: one.approvalPolicy,
      reviewer: one.reviewer,
      permissionsOf: () => permissions,
      primaryEnvironment: 'local',
    }),
    reviewer: {
      review: async () => {
        if (one.verdict === undefined) throw new Error('the reviewer was asked')
        return one.verdict
      },
    },
    settings: { compatibility, report: (_method, params) => reports.push(params) },
  })
  const { by, answer } = await answerElicitation(
    { key, requestId: 7, params: one.request, turnId: 'turn' },
    authorityOf(one.approvalPolicy, () => permissions, review),
    router,
    new AbortController().signal,
  )
  const [question] = surfaced
  const [report] = reports
  const told = z.looseObject({ targetItemId: z.string(), action: z.json() }).optional().parse(report)
  const route = question !== undefined ? 'client' : told !== undefined ? 'reviewer' : 'automatic'
  expect(by).toBe(route === 'client' ? 'user' : route === 'automatic' && by === 'reviewer' ? by : route)
  return {
    route,
    serverReceives: answer,
    ...(told && { reviewTargetId: told.targetItemId.replace(/7$/, '<rpc-id>'), reviewAction: told.action }),
    ...(question && { clientRequest: clientRequestParams(question, 'thread') }),
  }
}

function authorityOf(
  policy: ApprovalPolicy,
  permissionsOf: (key: ServerKey) => PermissionProfile | undefined,
  review?: ElicitationAuthority['review'],
): ElicitationAuthority {
  return { policy, permissionsOf, declinesAll: false, formsReachUser: false, ...(review && { review }) }
}

async function questionOf(key: ServerKey, params: JsonObject, turnId: string | null): Promise<JsonObject> {
  const asked: SurfacedElicitation[] = []
  const router: ElicitationRouter = new ElicitationRouter((question) => {
    asked.push(question)
    router.resolve(question.key, question.id, { action: 'decline' })
  })
  const permissions = presetProfile('workspace-write', { cwd: '/workspace' })
  await answerElicitation(
    { key, requestId: 1, params, turnId },
    authorityOf('on-request', () => permissions),
    router,
    new AbortController().signal,
  )
  const [question] = asked
  if (question === undefined) throw new Error('not asked')
  return clientRequestParams(question, '<thread-id>')
}

const Reviewed = z.looseObject({
  server: Server,
  selectedEnvironments: z.array(z.string()),
  deniedReads: z.record(z.string(), z.array(z.string())),
  request: z.looseObject({ _meta: Params }).optional(),
})

/** The profiles tell themselves apart by what they deny to be read. */
async function reviewedUnder(one: z.infer<typeof Reviewed>, compatibility: boolean): Promise<object> {
  const key = keyOf(one.server)
  const requests: ReviewRequest[] = []
  const [primary = ''] = one.selectedEnvironments
  const permissionsOf = ({ environment }: ServerKey) => denying(one.deniedReads[environment ?? primary] ?? [])
  const meta = one.request?._meta ?? {
    codex_request_type: 'approval_request',
    codex_approval_kind: 'mcp_tool_call',
    tool_name: 'any',
  }
  const review = reviewOfTurn({
    turn: () => ({
      threadId: 'thread',
      policy: 'on-request',
      reviewer: 'auto_review',
      permissionsOf,
      primaryEnvironment: primary,
    }),
    reviewer: {
      review: async (request) => {
        requests.push(request)
        return { outcome: 'allow' }
      },
    },
    settings: { compatibility },
  })
  const { answer } = await answerElicitation(
    { key, requestId: 1, turnId: 'turn', params: { message: '?', requestedSchema: { type: 'object' }, _meta: meta } },
    authorityOf('on-request', permissionsOf, review),
    new ElicitationRouter(),
    new AbortController().signal,
  )
  const [request] = requests
  return {
    contextEnvironment: request?.contextEnvironment,
    deniedReads: deniedOf(request?.permissions),
    ...(one.request && { plannedAction: request?.action, serverReceives: answer }),
  }
}

function denying(paths: readonly string[]): PermissionProfile {
  const entries = paths.map((path) => ({ path: { type: 'path', path }, access: 'deny' }) as const)
  return { type: 'managed', file_system: { type: 'restricted', entries }, network: 'restricted' }
}

function deniedOf(profile: PermissionProfile | undefined): string[] {
  if (profile?.type !== 'managed' || profile.file_system.type !== 'restricted') return []
  return profile.file_system.entries.flatMap(({ path }) => (path.type === 'path' ? [path.path] : []))
}

const Concurrent = z.looseObject({
  requests: z.array(Server.extend({ rpcId: z.string() })),
  answersInOrder: z.array(z.object({ environmentId: z.string(), content: Params })),
})

async function concurrently({ requests, answersInOrder }: z.infer<typeof Concurrent>): Promise<object> {
  const surfaced: SurfacedElicitation[] = []
  const router = new ElicitationRouter((question) => surfaced.push(question))
  const permissions = presetProfile('workspace-write', { cwd: '/workspace' })
  const answers = requests.map(async ({ rpcId, ...server }) => {
    const params = { message: '?', requestedSchema: { type: 'object', properties: { answer: { type: 'string' } } } }
    const { answer } = await answerElicitation(
      { key: keyOf(server), requestId: rpcId, params, turnId: 'turn' },
      authorityOf('on-request', () => permissions),
      router,
      new AbortController().signal,
    )
    return { environmentId: server.environmentId, answer }
  })
  await Promise.resolve()
  for (const { environmentId, content } of answersInOrder) {
    const question = surfaced.find(({ key }) => key.environment === environmentId)
    if (question === undefined) throw new Error('not asked')
    router.resolve(question.key, question.id, { action: 'accept', content })
  }
  return { received: await Promise.all(answers) }
}

function counter(): (call: string) => object {
  const pauses = new OutOfBandPauses({ pause: () => {}, resume: () => {} })
  return (call) => {
    try {
      return call === 'increment' ? pauses.increment() : pauses.decrement()
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
      return { error: { code: error.rpcCode, message: error.message } }
    }
  }
}

function keyOf({ serverName, environmentId }: z.infer<typeof Server>): ServerKey {
  return serverKey(serverName, environmentId)
}
