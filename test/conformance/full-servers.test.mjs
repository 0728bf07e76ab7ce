import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'

const META = 'io.modelcontextprotocol/'
const TASKS = 'io.modelcontextprotocol/tasks'
const CAPABILITIES = {
  elicitation: {},
  sampling: {},
  roots: {},
  extensions: { [TASKS]: {} },
  'com.example/odd': { a: 1 },
}

/** A raw client on stdio, of either era. */
class Client {
  asked = []
  notified = []
  #child
  #era
  #waiting = new Map()
  #listeners = new Set()
  #last = 0

  constructor(era) {
    this.#era = era
    const server = fileURLToPath(new URL(`../fixtures/full/server-${era}.mjs`, import.meta.url))
    this.#child = spawn(process.execPath, [server, '--stdio'], { stdio: ['pipe', 'pipe', 'inherit'] })
    createInterface({ input: this.#child.stdout }).on('line', (line) => this.#heard(JSON.parse(line)))
  }

  async open() {
    const handshake = {
      protocolVersion: '2025-11-25',
      capabilities: CAPABILITIES,
      clientInfo: { name: 't', version: '1' },
    }
    if (this.#era === '2026') return this.request('server/discover')
    const answer = await this.request('initialize', handshake)
    this.notify('notifications/initialized')
    return answer
  }

  async request(method, params = {}) {
    const { result, error } = await this.start(method, params).answer
    if (error !== undefined) throw Object.assign(new Error(error.message), error)
    return result
  }

  call(name, args = {}, more = {}) {
    return this.request('tools/call', { name, arguments: args, ...more })
  }

  start(method, params) {
    this.#last += 1
    const id = this.#last
    const answer = new Promise((resolve) => this.#waiting.set(id, resolve))
    this.#send({ id, method, params: this.#enveloped(params) })
    return { id, answer }
  }

  notify(method, params = {}) {
    this.#send({ method, params: this.#enveloped(params) })
  }

  /** The first notification of this method, which may have come already. */
  async notification(method) {
    for (;;) {
      const found = this.notified.find((message) => message.method === method)
      if (found !== undefined) return found.params
      await new Promise((resolve) => this.#listeners.add(resolve))
    }
  }

  /** @returns the exit code */
  async close() {
    this.#child.stdin.end()
    if (this.#child.exitCode === null) await once(this.#child, 'exit')
    return this.#child.exitCode
  }

  #enveloped(params) {
    if (this.#era !== '2026') return params
    const envelope = { [`${META}protocolVersion`]: '2026-07-28', [`${META}clientCapabilities`]: CAPABILITIES }
    return { ...params, _meta: { ...envelope, ...params._meta } }
  }

  #send(message) {
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }

  #heard(message) {
    if (message.method === undefined) return this.#waiting.get(message.id)?.(message)
    if (message.id === undefined) this.notified.push(message)
    else this.#answer(message)
    for (const listener of this.#listeners) listener()
    this.#listeners.clear()
  }

  #answer({ id, method }) {
    this.asked.push(method)
    const result =
      method === 'roots/list' ? { roots: [{ uri: 'file:///r' }] } : { action: 'accept', content: { confirm: true } }
    this.#send({ id, result })
  }
}

describe.each(['2025', '2026'])('the full-feature server of %s on stdio', (era) => {
  let client
  const opened = async () => {
    client = new Client(era)
    return { client, hello: await client.open() }
  }
  afterEach(() => client.close())

  it('offers what nobody knows, and answers it whole', async () => {
    const { hello } = await opened()
    expect(hello.capabilities['com.example/unknown']).toEqual({ since: '2031-01-01', nested: { flag: true } })
    const { tools } = await client.request('tools/list')
    const vendor = tools.find(({ name }) => name === 'test_vendor_schema')
    expect(vendor).toMatchObject({ 'com.example/rank': 7, inputSchema: { 'x-vendor-root': { widget: 'form' } } })
    expect(await client.call('test_unknown_content')).toMatchObject({
      content: [{ type: 'com.example/hologram', layers: [{ at: 1 }, { at: 2 }] }, { origin: 'test' }],
      unheardOf: { kept: true },
    })
  })

  it('sees what its client declared, unknown members too', async () => {
    await opened()
    const { content } = await client.call('test_client_info')
    expect(JSON.parse(content[0].text).capabilities).toEqual(CAPABILITIES)
  })

  it('tells of changes', async () => {
    await opened()
    if (era === '2025') await client.request('resources/subscribe', { uri: 'test://watched-resource' })
    else {
      const notifications = { toolsListChanged: true, resourceSubscriptions: ['test://watched-resource'] }
      client.start('subscriptions/listen', { notifications })
      await client.notification('notifications/subscriptions/acknowledged')
    }
    await client.call('test_trigger_tool_change')
    await client.call('test_trigger_resource_update')
    await client.notification('notifications/tools/list_changed')
    expect(await client.notification('notifications/resources/updated')).toMatchObject({
      uri: 'test://watched-resource',
    })
    const { tools } = await client.request('tools/list')
    expect(tools.map(({ name }) => name)).toContain('test_added_tool')
  })

  it('remembers which call was cancelled', async () => {
    await opened()
    const { id } = client.start('tools/call', { name: 'test_slow', arguments: { ms: 60_000, label: 'first' } })
    client.notify('notifications/cancelled', { requestId: id })
    await expect.poll(async () => (await client.call('test_cancelled')).content[0].text).toBe(JSON.stringify(['first']))
  })

  it('ends with its input', async () => {
    await opened()
    expect(await client.close()).toBe(0)
  })

  it('asks its client in the way of its era', async () => {
    await opened()
    const answer = await client.call('test_roots')
    if (era === '2025') {
      expect(client.asked).toEqual(['roots/list'])
      expect(answer.content[0].text).toContain('file:///r')
      return
    }
    expect(answer).toMatchObject({ resultType: 'input_required', inputRequests: { asked: { method: 'roots/list' } } })
    const inputResponses = { asked: { roots: [{ uri: 'file:///r' }] } }
    const { content } = await client.call('test_roots', {}, { inputResponses })
    expect(content[0].text).toContain('file:///r')
  })

  it('refuses a question that its client cannot answer', async () => {
    await opened()
    const call = client.call('test_elicitation_url')
    if (era === '2025') expect(await call).toMatchObject({ isError: true })
    else
      await expect(call).rejects.toMatchObject({
        code: -32021,
        data: { requiredCapabilities: { elicitation: { url: {} } } },
      })
  })

  it('works on a task until its question is answered', async () => {
    await opened()
    const begun = await client.call('confirm_delete', { filename: 'a' }, era === '2025' ? { task: {} } : {})
    const { taskId } = era === '2025' ? begun.task : begun
    if (era === '2025') {
      expect(await client.request('tasks/get', { taskId })).toMatchObject({ status: 'input_required' })
      const result = await client.request('tasks/result', { taskId })
      expect(result).toMatchObject({ content: [{ text: 'Deleted a' }], _meta: { [`${META}related-task`]: { taskId } } })
      expect(client.asked).toEqual(['elicitation/create'])
      return
    }
    expect(begun).toMatchObject({ resultType: 'task' })
    expect(await client.request('tasks/get', { taskId })).toMatchObject({
      status: 'input_required',
      inputRequests: { confirm: { method: 'elicitation/create' } },
    })
    const inputResponses = { confirm: { action: 'accept', content: { confirm: true } } }
    await client.request('tasks/update', { taskId, inputResponses })
    await expect
      .poll(() => client.request('tasks/get', { taskId }))
      .toMatchObject({
        status: 'completed',
        result: { content: [{ text: 'Deleted a' }] },
      })
  })
})
