import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ThreadOptions } from '../../src/reeve.js'
import { takeUpload, uploadsIn } from '../standins/backend-files.js'
import type { SeenRequest } from '../standins/backend-model.js'
import { assertionIds, type BackendRuntime, HUB, schemes, startBackendRuntime } from '../standins/backend-runtime.js'

const MODES = ['off', 'dual_header', 'assertion_only'] as const
const TAKING: ThreadOptions = { fileParameters: [HUB] }
/** Everything that may say whose request it is. */
const OURS = ['authorization', 'x-openai-agent-assertion', 'chatgpt-account-id', 'cookie', 'originator', 'user-agent']

function take(world: BackendRuntime, args: Readonly<Record<string, string | readonly string[]>>) {
  return { ...HUB, tool: 'take', arguments: { ...args, note: world.home } }
}

function sentArguments(world: BackendRuntime): unknown {
  const call = world.sent('tools/call').at(-1)
  return call && JSON.parse(call.body).params.arguments
}

function names({ headers }: SeenRequest | Pick<SeenRequest, 'headers'>): readonly string[] {
  const transport = new Set(['host', 'connection'])
  return headers.map(([name]) => name).filter((name) => !transport.has(name))
}

describe('a file in the arguments of a call', () => {
  it.each(MODES)('is uploaded with the auth of its thread, and storage gets none of it: %s', async (mode) => {
    await using world = await startBackendRuntime({ mode })
    const file = join(world.home, 'a.txt')
    writeFileSync(file, 'abc')
    const { model } = world.backend
    takeUpload(model)
    const thread = await world.thread(TAKING)
    const steps: unknown[] = []
    await thread.callTool(take(world, { file }), { onUpload: (step) => steps.push(step) })
    const [create, put, finalise] = uploadsIn(model)
    if (create === undefined || put === undefined || finalise === undefined) throw new Error('not uploaded')
    expect(JSON.parse(create.body)).toEqual({ file_name: 'a.txt', file_size: 3, use_case: 'codex' })
    expect(put.body).toBe('abc')
    expect(finalise.body).toBe('{}')
    const auth = mode === 'dual_header' ? ['authorization', 'x-openai-agent-assertion'] : ['authorization']
    for (const one of [create, finalise])
      expect(names(one).filter((name) => name !== 'content-length')).toEqual([
        ...auth,
        'chatgpt-account-id',
        'content-type',
        'accept',
      ])
    // The HTTP library has its own place for the length.
    expect(names(put)).toEqual(['x-ms-blob-type', 'x-ms-client-request-id', 'accept', 'content-length'])
    const scheme = mode === 'assertion_only' ? 'AgentAssertion' : 'Bearer'
    expect(schemes([create, put, finalise])).toEqual([scheme, null, scheme])
    const asserted = assertionIds([create, finalise, ...world.sent('tools/call')])
    expect(new Set(asserted).size).toBe(mode === 'off' ? 1 : 3)
    expect(sentArguments(world)).toEqual({
      file: {
        download_url: 'https://api.openai.com/download/file-1',
        file_id: 'file-1',
        mime_type: 'text/plain',
        file_name: 'a.txt',
      },
      note: world.home,
    })
    expect(steps).toEqual(['create', 'store', 'finalise'].map((step) => ({ file: 'a.txt', bytes: 3, step })))
    expect(model.violations).toEqual([])
  })

  it('goes to storage bare, also where that is on the backend’s own origin', async () => {
    await using world = await startBackendRuntime({ mode: 'dual_header' })
    const file = join(world.home, 'a.bin')
    writeFileSync(file, 'abc')
    takeUpload(world.backend.model, { storageUrl: 'https://chatgpt.com/storage/put/1' })
    await (await world.thread(TAKING)).callTool(take(world, { file }))
    const put = uploadsIn(world.backend.model)[1]
    expect(put?.host).toBe('chatgpt.com')
    expect(put && names(put).filter((name) => OURS.includes(name))).toEqual([])
  })

  it('is one of a list, in its place, with as much as the schema takes; one that comes twice is uploaded once', async () => {
    await using world = await startBackendRuntime()
    for (const name of ['a.txt', 'b.txt']) writeFileSync(join(world.home, name), name)
    for (const id of ['file-1', 'file-2']) takeUpload(world.backend.model, { id })
    const [a, b] = ['a.txt', 'b.txt'].map((name) => join(world.home, name))
    if (a === undefined || b === undefined) throw new Error('no files')
    await (await world.thread(TAKING)).callTool(take(world, { files: [b, a, b] }))
    const given = (id: string) => ({ download_url: `https://api.openai.com/download/${id}`, file_id: id })
    expect(sentArguments(world)).toMatchObject({ files: [given('file-1'), given('file-2'), given('file-1')] })
    expect(uploadsIn(world.backend.model)).toHaveLength(6)
  })

  it('is left alone on a server that nobody trusts with files, and its schema too', async () => {
    await using world = await startBackendRuntime()
    const file = join(world.home, 'a.txt')
    writeFileSync(file, 'abc')
    const thread = await world.thread()
    await thread.callTool(take(world, { file }))
    expect(sentArguments(world)).toMatchObject({ file })
    expect(uploadsIn(world.backend.model)).toEqual([])
    const shown = (await thread.step({ wait: 'all' })).tools.find(({ tool }) => tool === 'take')
    expect(JSON.stringify(shown?.definition)).not.toContain('absolute path')
  })

  it('is shown to a model as a path, and is approved as one before anything is read or leaves', async () => {
    await using world = await startBackendRuntime({ serverConfig: 'default_tools_approval_mode = "prompt"' })
    const file = join(world.home, 'a.txt')
    writeFileSync(file, 'abc')
    takeUpload(world.backend.model)
    const asked: unknown[] = []
    const answers = ['decline', 'approve'] as const
    const thread = await world.thread({
      ...TAKING,
      onApproval: async ({ arguments: args }) => {
        asked.push(args?.file, uploadsIn(world.backend.model).length)
        return answers[asked.length / 2 - 1] ?? 'decline'
      },
    })
    const step = await thread.step({ wait: 'all' })
    const tool = step.tools.find((one) => one.tool === 'take')
    if (tool === undefined) throw new Error('no tool')
    expect(tool.definition).toMatchObject({
      inputSchema: {
        properties: {
          file: { type: 'string', description: expect.stringMatching(/^What to take\. .*absolute path/) },
          files: { type: 'array', items: { type: 'string' } },
          note: { type: 'string' },
        },
      },
    })
    const call = { namespace: tool.namespace, name: tool.name, arguments: { file } }
    await expect(step.call(call)).rejects.toMatchObject({ code: 'approval_required' })
    expect(uploadsIn(world.backend.model)).toEqual([])
    await step.call(call)
    expect(asked).toEqual([file, 0, file, 0])
    expect(uploadsIn(world.backend.model)).toHaveLength(3)
  })
})

describe('a file that is not to be had', () => {
  it('keeps the call from being sent, by name, and nothing is uploaded', async () => {
    await using world = await startBackendRuntime()
    const at = (name: string) => join(world.home, name)
    mkdirSync(at('folder'))
    writeFileSync(at('a.txt'), 'abc')
    symlinkSync(at('a.txt'), at('link'))
    execFileSync('mkfifo', [at('fifo')])
    writeFileSync(at('big'), '')
    truncateSync(at('big'), 200 * 1024 * 1024)
    const thread = await world.thread(TAKING)
    for (const [path, code] of [
      [at('missing'), 'file_unreadable'],
      [at('folder'), 'file_unreadable'],
      [at('link'), 'file_unreadable'],
      [at('fifo'), 'file_unreadable'],
      ['/dev/zero', 'file_unreadable'],
      ['', 'file_unreadable'],
      [`${at('a.txt')}\0`, 'file_unreadable'],
      [at('big'), 'file_too_large'],
    ] as const) {
      const call = thread.callTool(take(world, { files: [at('a.txt'), path] }))
      await expect(call, path).rejects.toMatchObject({ code, place: 'hub/take files' })
    }
    const many = thread.callTool(take(world, { files: Array.from({ length: 17 }, () => at('a.txt')) }))
    await expect(many).rejects.toMatchObject({ code: 'too_many_files' })
    expect(world.sent('tools/call')).toEqual([])
    expect(uploadsIn(world.backend.model)).toEqual([])
  })

  it('is one that the owner’s permission profile does not let be read, whatever way leads there', async () => {
    await using world = await startBackendRuntime()
    const at = (name: string) => join(world.home, name)
    for (const folder of ['open', 'open/private', 'secret']) mkdirSync(at(folder))
    for (const name of ['open/a.txt', 'open/private/b.txt', 'open/c.key', 'secret/d.txt'])
      writeFileSync(at(name), 'abc')
    symlinkSync(at('secret'), at('open/way'))
    const entries = [
      { path: { type: 'special', value: { kind: 'project_roots' } }, access: 'read' },
      { path: { type: 'path', path: at('open/private') }, access: 'deny' },
      { path: { type: 'glob_pattern', pattern: `${at('open')}/**/*.key` }, access: 'deny' },
    ]
    const permissions = JSON.parse(
      JSON.stringify({ type: 'managed', network: 'enabled', file_system: { type: 'restricted', entries } }),
    )
    const thread = await world.thread({ ...TAKING, environments: [{ id: 'local', cwd: at('open'), permissions }] })
    takeUpload(world.backend.model)
    await thread.callTool(take(world, { file: 'a.txt' }))
    expect(sentArguments(world)).toMatchObject({ file: { file_id: 'file-1' } })
    for (const path of [
      at('secret/d.txt'),
      at('open/private/b.txt'),
      at('open/c.key'),
      at('open/way/d.txt'),
      '../secret/d.txt',
      `${at('open')}/../secret/d.txt`,
      '/etc/passwd',
    ])
      await expect(thread.callTool(take(world, { file: path })), path).rejects.toMatchObject({ code: 'file_denied' })
    expect(uploadsIn(world.backend.model)).toHaveLength(3)
    expect(world.sent('tools/call')).toHaveLength(1)
  })

  it('needs the auth of the thread: without, nothing is sent', async () => {
    await using world = await startBackendRuntime()
    writeFileSync(join(world.home, 'a.txt'), 'abc')
    const thread = await world.reeve.startThread(TAKING)
    const call = thread.callTool(take(world, { file: join(world.home, 'a.txt') }))
    await expect(call).rejects.toMatchObject({ code: 'no_owning_context' })
    expect(world.backend.model.requests.filter(({ path }) => path.includes('files'))).toEqual([])
  })
})

describe('an upload that fails', () => {
  const redirect = { status: 307, headers: { location: 'https://chatgpt.com/elsewhere' } }
  const retry = { status: 200, body: '{"status":"retry"}' }

  it.each([
    ['create', { create: { status: 500 } }, { step: 'create', status: 500 }, 1],
    ['create, with an answer that is no answer', { create: { status: 200, body: '<p>' } }, { step: 'create' }, 1],
    ['create, with storage in the clear', { storageUrl: 'http://api.openai.com/storage/1' }, { step: 'create' }, 1],
    ['store', { store: { status: 403 } }, { step: 'store', status: 403 }, 2],
    ['store, by a dropped socket', { store: { status: 0, fault: 'drop' } }, { step: 'store' }, 2],
    ['finalise', { finalise: [{ status: 200, body: '{"status":"error"}' }] }, { step: 'finalise' }, 3],
  ] as const)('at %s is an error of the argument, and the call is not sent', async (_, script, data, requests) => {
    await using world = await startBackendRuntime({ mode: 'dual_header' })
    const file = join(world.home, 'a.txt')
    writeFileSync(file, 'abc')
    takeUpload(world.backend.model, script)
    const call = (await world.thread(TAKING)).callTool(take(world, { file }))
    await expect(call).rejects.toMatchObject({ code: 'file_upload_failed', data })
    await expect(call).rejects.not.toThrow('secret-of-storage')
    expect(world.sent('tools/call')).toEqual([])
    expect(uploadsIn(world.backend.model)).toHaveLength(requests)
  })

  it.each(['dual_header', 'assertion_only'] as const)('by a redirect stops there, at every step: %s', async (mode) => {
    await using world = await startBackendRuntime({ mode })
    const file = join(world.home, 'a.txt')
    writeFileSync(file, 'abc')
    const thread = await world.thread(TAKING)
    const { pathReplies } = world.backend.model
    for (const [script, requests] of [
      [{ create: redirect }, 1],
      [{ store: redirect }, 1 + 2],
      [{ finalise: [redirect] }, 1 + 2 + 3],
    ] as const) {
      pathReplies.clear()
      takeUpload(world.backend.model, script)
      await expect(thread.callTool(take(world, { file }))).rejects.toMatchObject({ code: 'redirect_refused' })
      expect(uploadsIn(world.backend.model)).toHaveLength(requests)
      expect(world.backend.model.requests.filter(({ path }) => path === '/elsewhere')).toEqual([])
    }
  })

  it('waits for a backend that is not ready with the file yet', async () => {
    await using world = await startBackendRuntime()
    const file = join(world.home, 'a.txt')
    writeFileSync(file, 'abc')
    const ready = { status: 200, body: '{"status":"success","download_url":"https://api.openai.com/d"}' }
    takeUpload(world.backend.model, { finalise: [retry, ready] })
    await (await world.thread(TAKING)).callTool(take(world, { file }))
    expect(uploadsIn(world.backend.model)).toHaveLength(4)
    expect(sentArguments(world)).toMatchObject({ file: { mime_type: 'text/plain' } })
  })

  it('by the caller’s signal is a cancelled call', async () => {
    await using world = await startBackendRuntime()
    const file = join(world.home, 'a.txt')
    writeFileSync(file, 'abc')
    takeUpload(world.backend.model, { store: { status: 0, fault: 'silent' } })
    const controller = new AbortController()
    const { signal } = controller
    const onUpload = () => controller.abort()
    const call = (await world.thread(TAKING)).callTool(take(world, { file }), { signal, onUpload })
    await expect(call).rejects.toMatchObject({ code: 'cancelled' })
    expect(world.sent('tools/call')).toEqual([])
  })
})
