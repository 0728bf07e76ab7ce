import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/protocol/index.js'
import type { FromServer, ThreadOptions } from '../../src/reeve.js'
import { APPS, APPS_PATH, appsRequests, appTool, offerApps } from '../standins/backend-apps.js'
import { type BackendRuntime, startBackendRuntime } from '../standins/backend-runtime.js'

const ON = { features: { apps: true, auth_elicitation: true } } as const
const call = { ...APPS, tool: 'calendar_create', arguments: {} }
const CALENDAR = { connector_id: ' c1 ', connector_name: 'Calendar', _codex_apps: { link_id: 'l1', kind: 'k' } }
const CLIENT = { capabilities: { elicitation: { form: {}, url: {} } } }

/** One app, whose calls come to this. */
async function startApp(
  result: JsonObject = { content: [] },
  more: { config?: string; annotations?: JsonObject } = {},
) {
  const { config = '', annotations = {} } = more
  const world = await startBackendRuntime({ ...ON, config })
  const { model } = world.backend
  offerApps(model, () => [appTool('calendar_create', CALENDAR, { annotations })])
  model.mcpResults.set(`${APPS_PATH} tools/call`, () => result)
  return world
}

async function asking(world: BackendRuntime, action: string, options: ThreadOptions = {}) {
  const asked: FromServer[] = []
  const onRequest = async (request: FromServer) => {
    asked.push(request)
    return { action, content: {} }
  }
  const thread = await world.thread({ client: CLIENT, onRequest, ...options })
  return { thread, asked }
}

const failure = (more: JsonObject = {}): JsonObject => ({
  content: [{ type: 'text', text: 'no access' }],
  isError: true,
  _meta: {
    kept: 1,
    _codex_apps: {
      connector_auth_failure: {
        is_auth_failure: true,
        connector_id: 'c1',
        connector_name: 'Somebody Else',
        auth_reason: 'missing_link',
        error_code: ' ',
        error_http_status_code: 401,
        ...more,
      },
    },
  },
})

const NO_QUESTIONS = {
  sandbox_approval: true,
  rules: true,
  skill_approval: true,
  request_permissions: true,
  mcp_elicitations: false,
}

describe('a call that fails for want of a sign-in to its app', () => {
  it('asks for it, in the name that the tool gives, and has to be made again', async () => {
    await using world = await startApp(failure())
    const { thread, asked } = await asking(world, 'accept')
    const listed = appsRequests(world.backend.model, 'tools/list').length
    const result = await thread.callTool(call)
    const [{ method, params } = { method: '', params: {} }] = asked
    expect(method).toBe('elicitation/create')
    expect(params).toEqual({
      mode: 'url',
      elicitationId: expect.stringMatching(/^codex_apps_auth_./),
      url: 'https://chatgpt.com/apps/calendar/c1',
      message: expect.stringMatching(/sign in to calendar/i),
      _meta: {
        _codex_apps: {
          connector_auth_failure: {
            is_auth_failure: true,
            connector_id: 'c1',
            connector_name: 'Calendar',
            install_url: 'https://chatgpt.com/apps/calendar/c1',
            auth_reason: 'missing_link',
            error_http_status_code: 401,
          },
        },
      },
    })
    expect(result).toMatchObject({ isError: true, _meta: failure()._meta })
    expect(JSON.stringify(result.content)).toContain('call the tool again')
    expect(appsRequests(world.backend.model, 'tools/list').length).toBeGreaterThan(listed)
    expect(appsRequests(world.backend.model, 'tools/call')).toHaveLength(1)
  })

  it('says why', async () => {
    await using world = await startApp()
    const { thread, asked } = await asking(world, 'decline')
    for (const [reason, words] of [
      ['oauth_upgrade_required', /reconnect .* grant/i],
      ['reauthentication_required', /reconnect .* restore/i],
      ['anything', /continue/],
    ] as const) {
      const result = failure({ auth_reason: reason })
      world.backend.model.mcpResults.set(`${APPS_PATH} tools/call`, () => result)
      expect(await thread.callTool(call)).toEqual(result)
      expect(asked.at(-1)?.params?.message).toMatch(words)
    }
  })

  it('asks nobody else', async () => {
    await using world = await startApp()
    for (const [what, result, options] of [
      ['the policy is never', failure(), { approvalPolicy: 'never', permissions: 'danger-full-access' }],
      ['the policy leaves questions out', failure(), { approvalPolicy: { granular: NO_QUESTIONS } }],
      ['the client shows no pages', failure(), { client: { capabilities: { elicitation: { form: {} } } } }],
      ['it is told of another app', failure({ connector_id: 'c2' }), {}],
      ['the app is no text', failure({ connector_id: 7 }), {}],
      ['it is not said for certain', failure({ is_auth_failure: 'true' }), {}],
      ['it is no error', { ...failure(), isError: false }, {}],
      ['nothing is asked at all', failure(), { elicitations: { declineAll: true } }],
    ] as const) {
      world.backend.model.mcpResults.set(`${APPS_PATH} tools/call`, () => result)
      const { thread, asked } = await asking(world, 'accept', options)
      expect(await thread.callTool(call), what).toEqual(result)
      expect(
        asked.filter(({ params }) => params?.mode === 'url'),
        what,
      ).toEqual([])
    }
  })

  it('asks nobody while the feature is off, and for no other server', async () => {
    await using off = await startBackendRuntime({ features: { apps: true } })
    const { model } = off.backend
    offerApps(model, () => [appTool('calendar_create', CALENDAR)])
    for (const path of [APPS_PATH, '/backend-api/test/mcp']) model.mcpResults.set(`${path} tools/call`, () => failure())
    const { thread, asked } = await asking(off, 'accept')
    await thread.callTool(call)
    await thread.callTool({ server: 'hub', tool: 't', arguments: {} })
    expect(asked).toEqual([])
  })
})

describe('calls of an app', () => {
  it('are told of their descriptor, and asked about in the words of their app', async () => {
    await using world = await startApp(
      { content: [] },
      { config: '[apps.c1]\ndefault_tools_approval_mode = "prompt"\n' },
    )
    const { thread, asked } = await asking(world, 'accept')
    const { subject } = await thread.approvalOf(call)
    expect(subject).toMatchObject({ connectorId: 'c1', linkId: 'l1' })
    const step = await thread.step({ turn: {} })
    await step.call(
      { namespace: 'mcp__codex_apps__calendar', name: '_create', arguments: {} },
      { call: { callId: 'call-1' } },
    )
    expect(asked[0]?.params).toMatchObject({
      message: 'Allow Calendar to run tool "calendar_create"?',
      _meta: {
        source: 'connector',
        connector_id: 'c1',
        connector_name: 'Calendar',
        link_id: 'l1',
        link_is_implicit: false,
      },
    })
    const [sent] = appsRequests(world.backend.model, 'tools/call')
    expect(JSON.parse(sent?.body ?? '').params._meta._codex_apps).toEqual({
      link_id: 'l1',
      kind: 'k',
      call_id: 'call-1',
    })
  })

  it.each([
    ['its app is off', '[apps.c1]\nenabled = false\n', {}],
    ['all apps are', '[apps._default]\nenabled = false\n', {}],
    ['its tool is', '[apps.c1.tools.calendar_create]\nenabled = false\n', {}],
    ['what may destroy something is', '[apps._default]\ndestructive_enabled = false\n', {}],
    ['what goes beyond the app is', '[apps.c1]\nopen_world_enabled = false\n', { destructiveHint: false }],
  ] as const)('are refused, and not offered, where %s', async (_what, config, annotations) => {
    await using world = await startApp({ content: [] }, { config, annotations })
    const thread = await world.thread()
    expect((await thread.step()).tools.filter(({ key }) => key.name === 'codex_apps')).toEqual([])
    await expect(thread.callTool(call)).rejects.toMatchObject({ code: 'app_disabled' })
    expect(appsRequests(world.backend.model, 'tools/call')).toEqual([])
    expect(await thread.apps.list()).toMatchObject([{ id: 'c1', enabled: false }])
  })

  it('run where the app’s own policy says more than the one for all', async () => {
    const config = '[apps._default]\nenabled = false\n[apps.c1]\nenabled = true\n'
    await using world = await startApp({ content: [] }, { config })
    const thread = await world.thread()
    await thread.callTool(call)
    expect(appsRequests(world.backend.model, 'tools/call')).toHaveLength(1)
  })
})
