import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { environmentInfoOf } from '../../src/environments/executor/answers.js'
import { processEventOf, replayed } from '../../src/environments/executor/events.js'
import { HttpBody } from '../../src/environments/executor/http-body.js'
import { EventSequence, type ProcessEvent } from '../../src/environments/executor/sequence.js'
import { startParamsOf } from '../../src/environments/executor/start-params.js'
import { classifyExecMessage } from '../../src/protocol/index.js'
import { readVectors } from './cases.js'

const Message = z.looseObject({
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string().optional(),
  params: z.record(z.string(), z.unknown()).nullish(),
  result: z.unknown().optional(),
  error: z.object({ code: z.number() }).loose().optional(),
})
const Transcript = z.looseObject({
  name: z.string(),
  messages: z.array(z.looseObject({ conn: z.string().optional(), dir: z.string(), msg: Message.optional() })),
  expect: z
    .looseObject({
      processId: z.string().optional(),
      requestId: z.string().optional(),
      delivered: z.array(z.number()).optional(),
      stdout: z.string().optional(),
      stderr: z.string().optional(),
      exitCode: z.number().optional(),
      exitSeq: z.number().optional(),
      closeSeq: z.number().optional(),
      body: z.string().optional(),
    })
    .optional(),
})
type Transcript = z.infer<typeof Transcript>

const transcripts = z.looseObject({ cases: z.array(Transcript) }).parse(readVectors('executor-protocol.json')).cases
const transcript = (name: string) => transcripts.find((one) => one.name === name)
const received = ({ messages }: Transcript) => messages.flatMap(({ dir, msg }) => (dir === 's2c' && msg ? [msg] : []))

describe('every message of the executor in the transcripts', () => {
  it.each(transcripts.map((one) => [one.name, one] as const))('%s is understood', (_name, one) => {
    for (const message of received(one)) {
      const said = classifyExecMessage(message)
      expect(said.kind).not.toBe('malformed')
      if (said.kind === 'notification') {
        const id = String(message.params?.processId)
        const event = processEventOf(said.message.method, said.message.params, id, 'vector')
        expect(event !== undefined).toBe(said.message.method.startsWith('process/'))
      }
      const info = z.object({ environmentInfo: z.unknown() }).safeParse(message.result)
      if (info.success && info.data.environmentInfo !== undefined)
        expect(environmentInfoOf(info.data.environmentInfo, 'vector').shell.name).toBe('bash')
    }
  })
})

const processes = transcripts.filter((one) => one.expect !== undefined && one.expect.requestId === undefined)

describe('the events of a process', () => {
  it.each(processes.map((one) => [one.name, one] as const))('%s are delivered as expected', (_name, one) => {
    const events = deliver(one)
    const output = (stream: string) =>
      Buffer.concat(
        events.flatMap((event) => (event.kind === 'output' && event.stream === stream ? [event.bytes] : [])),
      ).toString()
    const exit = events.find((event) => event.kind === 'exited')
    const found = {
      delivered: events.map(({ seq }) => seq),
      stdout: output('stdout'),
      stderr: output('stderr'),
      exitCode: exit?.kind === 'exited' ? exit.code : undefined,
      exitSeq: exit?.seq,
      closeSeq: events.find((event) => event.kind === 'closed')?.seq,
    }
    const { processId: _, ...expected } = one.expect ?? {}
    expect(found).toMatchObject(expected)
  })
})

/** What a client delivers of a transcript: notifications as they come, and answers of `process/read` after a loss. */
function deliver(one: Transcript): readonly ProcessEvent[] {
  const starts = one.messages.flatMap(({ dir, msg }) => (dir === 'c2s' && msg?.method === 'process/start' ? [msg] : []))
  const id = one.expect?.processId ?? String(starts[0]?.params?.processId)
  const sequence = new EventSequence('vector')
  const events: ProcessEvent[] = []
  const reads = new Set<string>()
  for (const { conn, dir, msg } of one.messages) {
    if (dir === 'c2s' && msg?.method === 'process/read') reads.add(`${conn} ${msg.id}`)
    if (dir !== 's2c' || msg === undefined) continue
    if (reads.has(`${conn} ${msg.id}`)) events.push(...replayed(msg.result, sequence, 'vector'))
    const event = msg.method === undefined ? undefined : processEventOf(msg.method, msg.params, id, 'vector')
    if (event !== undefined) events.push(...sequence.accept(event))
  }
  return events
}

describe('a streamed body', () => {
  const read = async (name: string, requestId: string) => {
    const body = new HttpBody({ place: 'vector', pause: () => false, resume: () => {}, onend: () => {} })
    for (const { method, params } of received(transcript(name) ?? { name, messages: [] }))
      if (method === 'http/request/bodyDelta' && params?.requestId === requestId) body.delta(params)
    const pieces: Buffer[] = []
    for await (const piece of body) pieces.push(piece)
    return Buffer.concat(pieces).toString()
  }

  it('http/stream-body-delta is whole', async () => {
    const expected = transcript('http/stream-body-delta')?.expect
    expect(await read('http/stream-body-delta', expected?.requestId ?? '')).toBe(expected?.body)
  })

  it('http/stream-errors fail', async () => {
    const ids = received(transcript('http/stream-errors') ?? { name: '', messages: [] }).flatMap(({ params }) =>
      params?.error ? [String(params.requestId)] : [],
    )
    expect(ids.length).toBeGreaterThan(1)
    for (const id of ids)
      await expect(read('http/stream-errors', id)).rejects.toMatchObject({ code: 'transport_closed' })
  })
})

it('mcp/real-client-start: we start a server as the real client does', () => {
  const start = transcript('mcp/real-client-start')?.messages.find(({ msg }) => msg?.method === 'process/start')?.msg
  const Real = z.looseObject({
    argv: z.array(z.string()),
    env: z.record(z.string(), z.string()),
    envPolicy: z.looseObject({ includeOnly: z.array(z.string()) }),
  })
  const real = Real.parse(start?.params)
  const ours = startParamsOf(
    {
      program: real.argv[0] ?? '',
      args: real.argv.slice(1),
      env: real.env,
      cwd: '/srv/app',
      label: 'x',
      executorVariables: ['REMOTE_TOKEN'],
    },
    'mcp-stdio-1',
    'posix',
  )
  // The literals are laid over everything by `env`; the real client names them in `set` as well.
  expect({ managedNetwork: null, ...ours }).toEqual({ ...real, envPolicy: { ...real.envPolicy, set: {} } })
})
