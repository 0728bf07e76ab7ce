import { arch } from 'node:os'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { HARNESS } from '../../src/auth/index.js'
import type { CapturedServer } from '../../src/connections/index.js'
import { serverKey } from '../../src/identity/index.js'
import type { JsonObject } from '../../src/protocol/index.js'
import { analyticsPlace, toolCallEvent } from '../../src/telemetry/index.js'
import { CallAnalytics } from '../../src/threads/call-analytics.js'
import type { ToolCallFacts } from '../../src/threads/index.js'
import { stdioConfig } from '../fixtures/server-config.js'
import { vectorCases } from './cases.js'

const CLIENT = { name: 'client', version: '1.0' }
const TOOL = { tool: 'echo', definition: { name: 'echo' } }
const SERVER: Pick<CapturedServer, 'key' | 'config' | 'source'> = {
  key: serverKey('p'),
  config: stdioConfig(),
  source: { kind: 'config' },
}
const TURN = {
  metadata: { session_id: '<thread-id>', thread_id: '<thread-id>', turn_id: '<turn-id>' },
  sessionId: '<thread-id>',
  windowId: '<thread-id>:0',
}
const Input = z.looseObject({ kind: z.string(), outcome: z.string().optional(), modelCalls: z.number().optional() })
const Expected = z.record(z.string(), z.json())

async function told(calls: number, result: JsonObject): Promise<readonly JsonObject[]> {
  const facts: ToolCallFacts[] = []
  const sink = { isOn: true, toolCall: (one: ToolCallFacts) => void facts.push(one), close: async () => {} }
  const analytics = new CallAnalytics('<thread-id>', sink)
  const call = { callId: 'call_2', responseId: '<response-id>' }
  for (let made = 0; made < calls; made += 1)
    await analytics.tool({ server: SERVER, tool: TOOL, turn: TURN, facts: call }, undefined, async (record) => {
      record?.decided('run', 'mode')
      record?.sending()
      return result
    })
  return facts.map((one) => toolCallEvent(one, CLIENT))
}

function paramsOf(event: JsonObject | undefined): JsonObject {
  return z.record(z.string(), z.json()).parse(event?.event_params)
}

describe('the event of a tool call', () => {
  for (const { name, input, expected } of vectorCases('analytics.json')) {
    const { kind, outcome, modelCalls = 1 } = Input.parse(input)
    const wanted = Expected.parse(expected)
    it(name, async () => {
      const events = await told(modelCalls, { content: [], ...(outcome === 'isError' && { isError: true }) })
      const params = paramsOf(events[0])
      if (kind === 'count') return expect({ events: events.length }).toEqual(wanted)
      if (kind === 'envelope') {
        const place = analyticsPlace({ enabled: true }, { baseUrl: 'https://chatgpt.com/backend-api/' })
        return expect(place?.url).toBe(`https://chatgpt.com/backend-api${wanted.pathEndsWith}`)
      }
      if (kind === 'fields') {
        const client = z.record(z.string(), z.json()).parse(params.app_server_client)
        const runtime = z.record(z.string(), z.json()).parse(params.runtime)
        // Ours comes last: the environment (known-quirks, 49).
        expect(Object.keys(params)).toEqual([...z.array(z.string()).parse(wanted.paramKeys), 'environment_id'])
        expect(events[0]?.event_type).toBe(wanted.eventType)
        expect(Object.keys(events[0] ?? {})).toEqual(wanted.eventKeys)
        expect(Object.keys(client)).toEqual(wanted.clientKeys)
        return expect(Object.keys(runtime)).toEqual(wanted.runtimeKeys)
      }
      if (wanted.event === undefined) return expect(params).toMatchObject(wanted)
      const sample = paramsOf(z.record(z.string(), z.json()).parse(wanted.event))
      // Times and the machine are this one's; no wire is between a client and an embedded runtime.
      const own = ['app_server_client', 'runtime', 'started_at_ms', 'completed_at_ms', 'duration_ms'] as const
      const rest = Object.keys(sample).filter((key) => !own.some((one) => one === key) && !key.startsWith('execution'))
      expect(params).toMatchObject(Object.fromEntries(rest.map((key) => [key, sample[key]])))
      expect(params.app_server_client).toEqual({
        product_client_id: 'client',
        client_name: 'client',
        client_version: '1.0',
        rpc_transport: 'in_process',
        experimental_api_enabled: false,
      })
      expect(params.runtime).toMatchObject({ codex_rs_version: HARNESS.version, runtime_os: process.platform })
      expect(params.runtime).toMatchObject({ runtime_arch: arch() === 'x64' ? 'x86_64' : expect.any(String) })
      return expect(params.duration_ms).toBe(Number(params.completed_at_ms) - Number(params.started_at_ms))
    })
  }
})
