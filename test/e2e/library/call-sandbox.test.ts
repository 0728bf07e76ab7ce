import { chmodSync, copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/protocol/index.js'
import { notes, notesToml, ThreadWorld } from '../../fixtures/threads/thread-world.js'

const LAUNCHER = fileURLToPath(new URL('../../fixtures/sandbox/launcher.sh', import.meta.url))
const profile = (name: string): JsonObject => ({ type: 'disabled', later: { name } })

const READ_ONLY: JsonObject = {
  type: 'managed',
  file_system: {
    type: 'restricted',
    entries: [{ path: { type: 'special', value: { kind: 'root' } }, access: 'read' }],
  },
  network: 'restricted',
}

/** `_meta` of the calls that a server got. */
const metas = (world: ThreadWorld, file: string) =>
  world.received(file).flatMap(({ method, params }) => (method === 'tools/call' ? [params?._meta ?? {}] : []))
const stateOf = (meta: Readonly<Record<string, unknown>> | undefined) => meta?.['codex/sandbox-state']
const launcherOf = (meta: Readonly<Record<string, unknown>> | undefined) => meta?.['codex/sandbox-launcher']

/** One plugin of the same name in each of two environments, and a server of the host. */
function twoBoxes(): Promise<ThreadWorld> {
  const recording = (file: string) => ({ notes: notes('--record', `../../${file}`) })
  return ThreadWorld.open({
    executors: ['enva', 'envb'],
    config: `launcher = ${JSON.stringify(LAUNCHER)}\n${notesToml('here', ['--record', 'here'])}`,
    plugins: [
      { id: 'rootA', environment: 'enva', servers: recording('a') },
      { id: 'rootB', environment: 'envb', servers: recording('b') },
    ],
  })
}

describe('servers of one name', () => {
  it('are each told the policy and the folder of their own environment', async () => {
    await using world = await twoBoxes()
    await using thread = await world.reeve.startThread({
      capabilityRoots: world.roots,
      environments: [
        { id: 'enva', cwd: '/srv/a', permissions: profile('a') },
        { id: 'envb', cwd: '/srv/b', permissions: profile('b') },
      ],
    })
    const step = await thread.step({ wait: 'all' })
    for (const tool of step.tools.filter((one) => one.tool === 'whoami')) await step.call({ ...tool, arguments: {} })
    for (const [file, cwd] of [
      ['a', '/srv/a'],
      ['b', '/srv/b'],
    ] as const) {
      const [meta] = metas(world, file)
      expect(stateOf(meta)).toEqual({
        permissionProfile: profile(file),
        codexLinuxSandboxExe: null,
        sandboxCwd: `file://${cwd}`,
        useLegacyLandlock: false,
        useMxc: false,
      })
      expect(meta?.['codex/sandbox-state-meta']).toEqual(stateOf(meta))
      expect(launcherOf(meta)).toBeUndefined()
    }
    // The host is not selected, and nobody said anything of it.
    expect(stateOf(metas(world, 'here')[0])).toEqual({
      permissionProfile: READ_ONLY,
      codexLinuxSandboxExe: null,
      sandboxCwd: `file://${world.folder}`,
      useLegacyLandlock: false,
      useMxc: false,
    })
  })
})

describe('a call', () => {
  it('carries what was selected when its step was taken', async () => {
    await using world = await twoBoxes()
    const at = (name: string) => [{ id: 'local', cwd: world.folder, permissions: profile(name) }]
    await using thread = await world.reeve.startThread({ environments: at('first') })
    const step = await thread.step({ wait: 'all' })
    await thread.select(at('second'))
    const [tool] = step.tools
    if (tool === undefined) throw new Error('nothing is offered')
    await step.call({ ...tool, arguments: {} })
    await thread.callTool({ server: 'here', tool: 'whoami' })
    expect(metas(world, 'here').map(stateOf)).toMatchObject([
      { permissionProfile: profile('first') },
      { permissionProfile: profile('second') },
    ])
  })

  it('can not be told another policy by its caller or its arguments', async () => {
    await using world = await twoBoxes()
    const environments = [{ id: 'local', cwd: world.folder, permissions: profile('mine') }]
    await using thread = await world.reeve.startThread({ environments })
    const spoofed: JsonObject = {
      'codex/sandbox-state': { permissionProfile: { type: 'disabled' }, sandboxCwd: 'file:///' },
      'codex/sandbox-state-meta': {},
      'codex/sandbox-launcher': { codexExecutable: '/tmp/evil' },
      threadId: 'other',
    }
    await thread.callTool({ server: 'here', tool: 'whoami', arguments: spoofed, _meta: { ...spoofed, mine: 1 } })
    const [meta] = metas(world, 'here')
    expect(stateOf(meta)).toMatchObject({ permissionProfile: profile('mine'), sandboxCwd: `file://${world.folder}` })
    expect(meta?.['codex/sandbox-state-meta']).toEqual(stateOf(meta))
    expect(launcherOf(meta)).toEqual({ codexExecutable: LAUNCHER })
    expect(meta).toMatchObject({ threadId: thread.id, mine: 1 })
  })

  it('of another kind says nothing of a sandbox, whoever makes it', async () => {
    await using world = await twoBoxes()
    const environments = [{ id: 'local', cwd: world.folder, permissions: profile('mine') }]
    await using thread = await world.reeve.startThread({ environments })
    const _meta: JsonObject = {
      'codex/sandbox-state': {},
      'codex/sandbox-launcher': { codexExecutable: '/x' },
      mine: 1,
    }
    await thread.resources.read({ server: 'here', uri: 'note://shared/one', _meta })
    await thread.prompts.get({ server: 'here', name: 'none', _meta }).catch(() => {})
    const sent = world.received('here').filter(({ method }) => method === 'resources/read' || method === 'prompts/get')
    expect(sent.map(({ method }) => method)).toEqual(['resources/read', 'prompts/get'])
    for (const { params } of sent) {
      expect(params?._meta).toMatchObject({ mine: 1 })
      expect(Object.keys(params?._meta ?? {}).filter((key) => key.startsWith('codex/'))).toEqual([])
    }
  })

  it('names a launcher only for as long as it is the one that was tried out', async () => {
    await using world = await twoBoxes()
    const path = join(world.folder, 'codex')
    copyFileSync(LAUNCHER, path)
    world.write('config.toml', `launcher = ${JSON.stringify(path)}\n${notesToml('here', ['--record', 'here'])}`)
    await world.reeve.reload()
    const environments = [{ id: 'local', cwd: world.folder, permissions: profile('mine') }]
    await using thread = await world.reeve.startThread({ environments })
    const call = () => thread.callTool({ server: 'here', tool: 'whoami' })
    await call()
    writeFileSync(path, '#!/bin/sh\nexit 0\n')
    await call()
    copyFileSync(LAUNCHER, path)
    chmodSync(path, 0o644)
    await call()
    const seen = metas(world, 'here')
    expect(seen.map(launcherOf)).toEqual([{ codexExecutable: path }, undefined, undefined])
    expect(seen.map((meta) => stateOf(meta) !== undefined)).toEqual([true, true, true])
  })

  it('tells whoever asks what launcher there is', async () => {
    await using world = await twoBoxes()
    expect(await world.reeve.launchers()).toEqual({
      codex: { is: 'ready', named: LAUNCHER, path: LAUNCHER, source: 'configuration' },
    })
    world.write('config.toml', 'launcher = "none"\n')
    await world.reeve.reload()
    expect(await world.reeve.launchers()).toEqual({ codex: { is: 'off' } })
  })
})
