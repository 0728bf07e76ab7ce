import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonObject, JsonValue } from '../../protocol/index.js'
import { launch, readSandboxMeta, readSandboxRequest, SANDBOX_CAPABILITIES } from '../../sandbox/index.js'
import { executionCwd } from './execution-cwd.js'
import { type SandboxAuthority, type SandboxHost, type SandboxServer, sandboxMeta } from './meta.js'

const PROFILE: JsonObject = {
  type: 'managed',
  file_system: { type: 'unrestricted' },
  network: 'restricted',
  later: [1],
}
const CALL: SandboxAuthority = { executionEnvironment: 'local', profile: PROFILE, cwd: '/workspace/a' }
const ASKS: JsonObject = { tools: {}, experimental: { 'codex/sandbox-state': { version: '1' } } }
const SERVER: SandboxServer = { capabilities: ASKS, transport: 'stdio' }
const HOST: SandboxHost = {
  launcher: { codexExecutable: '/opt/codex/codex' },
  linuxSandboxExecutable: '/opt/codex/codex-linux-sandbox',
}

describe('the state', () => {
  it('has the profile whole, and the same under both keys', () => {
    const meta = sandboxMeta(CALL, SERVER, HOST)
    expect(meta['codex/sandbox-state']).toEqual({
      permissionProfile: PROFILE,
      codexLinuxSandboxExe: '/opt/codex/codex-linux-sandbox',
      sandboxCwd: 'file:///workspace/a',
      useLegacyLandlock: false,
      useMxc: false,
    })
    expect(meta['codex/sandbox-state-meta']).toEqual(meta['codex/sandbox-state'])
  })

  it.each([null, false, 0, '', [], {}])('is sent whatever the value of the key: %j', (value) => {
    for (const key of ['codex/sandbox-state', 'codex/sandbox-state-meta']) {
      const capabilities = { experimental: { [key]: value } }
      expect(Object.keys(sandboxMeta(CALL, { ...SERVER, capabilities }, HOST))).toHaveLength(3)
    }
  })

  it.each<JsonValue>([null, 'codex/sandbox-state', [], {}, { 'codex/sandbox-states': {} }, ['codex/sandbox-state']])(
    'is not sent to a server that does not ask: %j',
    (experimental) => {
      expect(sandboxMeta(CALL, { ...SERVER, capabilities: { experimental } }, HOST)).toEqual({})
    },
  )

  it('is not sent for what a prototype has', () => {
    expect(sandboxMeta(CALL, { ...SERVER, capabilities: {} }, HOST)).toEqual({})
    const experimental: JsonObject = JSON.parse('{"__proto__":{"codex/sandbox-state":{}}}')
    expect(sandboxMeta(CALL, { ...SERVER, capabilities: { experimental } }, HOST)).toEqual({})
  })

  it('names no program of the host where it means nothing', () => {
    const remote = { ...CALL, executionEnvironment: 'enva' }
    const meta = sandboxMeta(remote, SERVER, HOST)
    expect(meta['codex/sandbox-state']).toMatchObject({ codexLinuxSandboxExe: null })
    expect(Object.keys(meta)).toEqual(['codex/sandbox-state', 'codex/sandbox-state-meta'])
  })

  it('is not sent without a folder', () => {
    const { cwd: _, ...unselected } = CALL
    for (const call of [unselected, { ...CALL, cwd: 'relative' }, { ...CALL, cwd: '' }, { ...CALL, cwd: '/a\0' }])
      expect(sandboxMeta(call, SERVER, HOST)).toEqual({})
  })

  it.each([
    ['/', 'file:///'],
    ['/a b/ü/100%#?', 'file:///a%20b/%C3%BC/100%25%23%3F'],
  ])('has %s as a URI', (cwd, uri) => {
    expect(sandboxMeta({ ...CALL, cwd }, SERVER, HOST)['codex/sandbox-state']).toMatchObject({ sandboxCwd: uri })
  })

  it.each([
    ['C:\\work\\a b', 'file:///C:/work/a%20b'],
    ['C:/work', 'file:///C:/work'],
    ['\\\\host\\share\\a', 'file://host/share/a'],
  ])('has %s of a Windows machine as a URI', (cwd, uri) => {
    const call = { ...CALL, executionEnvironment: 'windows', cwd }
    expect(sandboxMeta(call, SERVER, HOST)['codex/sandbox-state']).toMatchObject({ sandboxCwd: uri })
  })
})

describe('the launcher', () => {
  it.each<[SandboxServer['transport'], string]>([
    ['streamable_http', 'local'],
    ['sse', 'local'],
    ['stdio', 'enva'],
    ['streamable_http', 'enva'],
  ])('does not go to a server on %s in %s', (transport, executionEnvironment) => {
    const meta = sandboxMeta({ ...CALL, executionEnvironment }, { ...SERVER, transport }, HOST)
    expect(meta).not.toHaveProperty(['codex/sandbox-launcher'])
    expect(meta).toHaveProperty(['codex/sandbox-state'])
  })

  it('is left out when there is none, and nothing takes its place', () => {
    for (const host of [{}, { launcher: {} }])
      expect(Object.keys(sandboxMeta(CALL, SERVER, host))).toEqual(['codex/sandbox-state', 'codex/sandbox-state-meta'])
  })

  it('can be Codex, Reeve or both', () => {
    const both = { codexExecutable: '/opt/codex/codex', reeveExecutable: '/opt/reeve/reeve' }
    for (const launcher of [both, { reeveExecutable: '/opt/reeve/reeve' }])
      expect(sandboxMeta(CALL, SERVER, { launcher })['codex/sandbox-launcher']).toEqual(launcher)
  })
})

describe('the folder', () => {
  const selected = [{ id: 'enva', cwd: '/a' }, { id: 'envb' }]
  it('is that of the environment, and the thread’s for the host alone', () => {
    expect(executionCwd('enva', selected, '/thread')).toBe('/a')
    expect(executionCwd('local', selected, '/thread')).toBe('/thread')
    expect(executionCwd('local', [{ id: 'local', cwd: '/here' }], '/thread')).toBe('/here')
    expect(executionCwd('envb', selected, '/thread')).toBeUndefined()
    expect(executionCwd('envc', selected, '/thread')).toBeUndefined()
  })
})

describe('what servers do with it', () => {
  it('is asked for by those that use the kit', () => {
    expect(Object.keys(sandboxMeta(CALL, { ...SERVER, capabilities: { ...SANDBOX_CAPABILITIES } }, HOST))).toHaveLength(
      3,
    )
  })

  it('leaves every profile as it was, byte for byte', () => {
    const profiles = fc
      .dictionary(
        fc.oneof(fc.string(), fc.constantFrom('type', '__proto__', 'constructor', 'toJSON')),
        fc.jsonValue({ maxDepth: 2 }),
      )
      .map((value) => JSON.stringify(value))
    fc.assert(
      fc.property(profiles, (profile) => {
        const meta = sandboxMeta({ ...CALL, profile: JSON.parse(profile) }, SERVER, HOST)
        const line = JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name: 'run', _meta: meta },
        })
        const sent = `{"permissionProfile":${profile},"codexLinuxSandboxExe":"/opt/codex/codex-linux-sandbox","sandboxCwd":"file:///workspace/a","useLegacyLandlock":false,"useMxc":false}`
        const { file, args } = launch(readSandboxRequest(line, 'stdio'), ['true'])
        if (file !== '/opt/codex/codex' || args[2] !== sent) expect([file, args[2]]).toEqual(['/opt/codex/codex', sent])
      }),
      { numRuns: 100_000 },
    )
  }, 240_000)

  it('is for servers that parse it, too', () => {
    const meta: unknown = JSON.parse(JSON.stringify(sandboxMeta(CALL, SERVER, HOST)))
    expect(readSandboxMeta(meta, 'stdio').state).toBe(
      JSON.stringify(sandboxMeta(CALL, SERVER, HOST)['codex/sandbox-state']),
    )
  })
})
