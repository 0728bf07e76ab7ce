import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { type Asked, scriptedExecutor } from '../../../test/fixtures/executor/scripted-executor.js'
import { environmentId } from '../../identity/index.js'
import type { JsonObject } from '../../protocol/index.js'
import type { Environment } from '../environment.js'
import { ExecutorEnvironment } from '../executor/environment.js'
import { webSocketConnector } from '../executor/web-socket.js'
import { createHttpClient } from '../http/client.js'
import { LocalEnvironment } from '../local.js'
import { CapabilityFinder } from './finder.js'

let folder: string
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'reeve-sight-')))
  await mkdir(join(folder, '.codex-plugin'))
  await writeFile(join(folder, '.codex-plugin', 'plugin.json'), JSON.stringify(MANIFEST))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const MANIFEST = { name: 'notes', mcpServers: { notes: { command: 'node' } } }
const AT_ROOT = { type: 'special', value: { kind: 'root' } }
const READ_ALL = managed({ path: AT_ROOT, access: 'read' })
const READ_SOME = managed({ path: { type: 'path', path: '/srv/app' }, access: 'read' })

function managed(...entries: readonly JsonObject[]): JsonObject {
  return { type: 'managed', file_system: { type: 'restricted', entries: [...entries] }, network: 'restricted' }
}

function host(): Environment {
  const local = new LocalEnvironment({ http: createHttpClient({ env: {} }) })
  onTestFinished(() => local.close())
  return local
}

/** An executor that has one plugin, whose manifest it gives away or refuses, and any folder that it is asked for. */
async function executor(capabilities: object, discovers: (asked: Asked) => unknown = discovered) {
  const running = await scriptedExecutor((asked) => {
    const { method, params } = asked
    const environmentInfo = { shell: { name: 'sh', path: '/bin/sh' }, platformOs: 'linux', capabilities }
    if (method === 'initialize') return { result: { sessionId: crypto.randomUUID(), environmentInfo } }
    if (method === 'capabilityRoots/discoverV1') return answer(discovers(asked))
    return method === 'fs/canonicalize' ? { result: { path: params.path } } : undefined
  })
  const environment = new ExecutorEnvironment({
    id: environmentId('box'),
    connector: webSocketConnector({ environment: 'box', url: running.url }),
  })
  onTestFinished(async () => {
    await environment.close()
    await running[Symbol.asyncDispose]()
  })
  /** What was asked about files. */
  const reads = () => running.asked.filter(({ method }) => /^(fs|capabilit)/.test(method))
  return { environment, reads }
}

function answer(result: unknown) {
  return result === undefined ? { error: { code: -32603, message: 'no sandbox helper' } } : { result }
}

function discovered() {
  const contents = JSON.stringify(MANIFEST)
  const manifest = { path: `${pathToFileURL(folder).href}/.codex-plugin/plugin.json`, contents }
  return { roots: [{ id: 'r', plugin: { manifest } }] }
}

async function look(environment: Environment, permissions: JsonObject | undefined, finder = new CapabilityFinder()) {
  const place = { environment, cwd: '/srv/app', workspaceRoots: ['/srv/app'], ...(permissions && { permissions }) }
  const roots = [{ id: 'r', environment: environment.id, path: folder }]
  const [found] = await finder.find({ places: [place], roots })
  return { plugins: found?.plugins.map(({ id }) => id), problems: found?.problems.map(({ code }) => code) }
}

const FOUND = { plugins: ['r'], problems: [] }
const CLOSED = { plugins: [], problems: ['sandbox_unavailable'] }

describe('an executor with a sandbox', () => {
  const CAPABLE = { capabilityDiscoverySandbox: true }

  it('is asked for everything under the profile that restricts files there', async () => {
    const { environment, reads } = await executor(CAPABLE)
    expect(await look(environment, READ_SOME)).toEqual(FOUND)
    const sandbox = {
      permissions: managed({ path: { type: 'path', path: 'file:///srv/app' }, access: 'read' }),
      cwd: 'file:///srv/app',
      workspaceRoots: ['file:///srv/app'],
      windowsSandboxLevel: 'disabled',
    }
    const [first, ...others] = reads()
    expect(first).toMatchObject({ method: 'capabilityRoots/discoverV1', params: { roots: [{ id: 'r', sandbox }] } })
    expect(others.length).toBeGreaterThan(0)
    for (const { params } of others) expect(params.sandbox).toEqual(sandbox)
  })

  it('that fails to discover is read file by file, in the sandbox all the same', async () => {
    const { environment, reads } = await executor(CAPABLE, () => undefined)
    expect((await look(environment, READ_SOME)).plugins).toEqual([])
    const [, ...others] = reads()
    expect(others.length).toBeGreaterThan(0)
    for (const { params } of others) expect(params).toHaveProperty('sandbox.permissions')
  })

  it('is not asked under a profile that names no place of its own', async () => {
    const { environment, reads } = await executor(CAPABLE)
    const profile = managed({ path: { type: 'path', path: 'C:\\work' }, access: 'read' })
    expect(await look(environment, profile)).toEqual(CLOSED)
    expect(reads()).toEqual([])
  })

  it('is asked without one where nothing restricts files', async () => {
    const { environment, reads } = await executor(CAPABLE)
    const profiles: readonly (JsonObject | undefined)[] = [
      undefined,
      { type: 'disabled' },
      { type: 'external', network: 'restricted' },
      { type: 'managed', file_system: { type: 'unrestricted' }, network: 'restricted' },
    ]
    for (const profile of profiles) await look(environment, profile)
    expect(reads().length).toBeGreaterThan(0)
    for (const { params } of reads()) expect(params).not.toHaveProperty('sandbox.permissions')
  })

  it('is asked anew under another profile', async () => {
    const { environment, reads } = await executor(CAPABLE)
    const finder = new CapabilityFinder()
    const asks = () => reads().filter(({ method }) => method === 'capabilityRoots/discoverV1').length
    for (const [profile, times] of [
      [READ_SOME, 1],
      [READ_SOME, 1],
      [READ_ALL, 2],
    ] as const) {
      await look(environment, profile, finder)
      expect(asks()).toBe(times)
    }
  })
})

describe('a place without a sandbox', () => {
  it('is not looked into under a profile that restricts what may be read', async () => {
    const { environment, reads } = await executor({})
    const deny = managed({ path: AT_ROOT, access: 'read' }, { path: { type: 'path', path: '/secret' }, access: 'deny' })
    for (const profile of [READ_SOME, deny, managed()]) {
      expect(await look(environment, profile)).toEqual(CLOSED)
      expect(await look(host(), profile)).toEqual(CLOSED)
    }
    expect(reads()).toEqual([])
  })

  it('is looked into under one that lets everything be read', async () => {
    expect(await look(host(), READ_ALL)).toEqual(FOUND)
  })

  it.each<JsonObject>([
    {},
    { type: 'other' },
    { type: 'managed', network: 'restricted' },
    { type: 'managed', file_system: { type: 'restricted' }, network: 'restricted' },
  ])('is not looked into under a profile that nobody understands: %j', async (profile) => {
    expect(await look(host(), profile)).toEqual(CLOSED)
  })
})
