import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { serveExecutorWebSocket } from '../../../src/executor/index.js'
import type { JsonObject } from '../../../src/protocol/index.js'
import { Reeve, type Thread } from '../../../src/reeve.js'
import { startProgram } from '../../clients/program.js'
import { printed } from '../built-cli.js'

/** Policies that go all the ways. */
const POLICIES = Number(process.env.REEVE_SANDBOX_STATES ?? 250)
const SERVER = fileURLToPath(new URL('../../fixtures/sandbox/state-server.mjs', import.meta.url))
const Told = z.object({ state: z.string().nullable(), sha256: z.string(), exact: z.boolean(), launcher: z.boolean() })
const Result = z.looseObject({ content: z.tuple([z.looseObject({ text: z.string() })]) })
const quote = (text: string) => JSON.stringify(text)

/** A real stdio server and a real HTTP server of this machine, and one on an executor. */
const SERVERS = ['stdio', 'http', 'remote'] as const

let thread: Thread
const opened: AsyncDisposable[] = []
/** What is opened is closed at the end, the last one first. */
function use<Opened extends AsyncDisposable>(one: Opened): Opened {
  opened.push(one)
  return one
}
let folder: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'reeve-states-'))
  const env = { HOME: folder, PATH: process.env.PATH ?? '' }
  const http = use(startProgram({ command: process.execPath, args: [SERVER, '--http'] }, { env, cwd: folder }))
  const [url] = await printed(http, /http:\/\/127\.0\.0\.1:\d+\/mcp/)
  const executor = use(
    await serveExecutorWebSocket({ host: '127.0.0.1', port: 0, authentication: { kind: 'none' }, env, cwd: folder }),
  )
  const stdio = `command = ${quote(process.execPath)}\nargs = [${quote(SERVER)}]\ncwd = ${quote(folder)}\nprotocol = "legacy"`
  writeFileSync(
    join(folder, 'config.toml'),
    `launcher = "none"
[audit]
mode = "off"
[mcp_servers.stdio]
${stdio}
[mcp_servers.http]
url = ${quote(url)}
protocol = "legacy"
[mcp_servers.remote]
environment_id = "box"
${stdio}
[[environments]]
id = "box"
url = ${quote(executor.url)}
`,
  )
  const reeve = use(await Reeve.open({ home: folder, cwd: folder, env }))
  thread = use(await reeve.startThread({ environments: places({ type: 'disabled' }) }))
  await thread.step({ wait: 'all' })
}, 60_000)
afterAll(async () => {
  for (const one of opened.reverse()) await one[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true, force: true })
})

const places = (permissions: JsonObject) => [
  { id: 'local', cwd: '/here', permissions },
  { id: 'box', cwd: '/srv/ä b', permissions },
]
const CWD = { stdio: '/here', http: '/here', remote: '/srv/ä b' }
const URIS = { stdio: 'file:///here', http: 'file:///here', remote: 'file:///srv/%C3%A4%20b' }

async function tell(permissions: JsonObject) {
  await thread.select(places(permissions))
  const step = await thread.step({ wait: 'none' })
  return Promise.all(
    SERVERS.map(async (server) => {
      const tool = step.tools.find(({ key }) => key.name === server)
      if (tool === undefined) throw new Error(`${server} is not there`)
      const { content } = Result.parse(await step.call({ ...tool, arguments: {} }))
      return { server, ...Told.parse(JSON.parse(content[0].text)) }
    }),
  )
}

/** The state as it has to arrive, written by hand: the profile's own text between members that are ours. */
const stateOf = (profile: string, server: (typeof SERVERS)[number]) =>
  `{"permissionProfile":${profile},"codexLinuxSandboxExe":null,"sandboxCwd":"${URIS[server]}","useLegacyLandlock":false,"useMxc":false}`

const name = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.constantFrom(
    '__proto__',
    'constructor',
    'toJSON',
    'hasOwnProperty',
    'ключ',
    '💥',
    '\ud800',
    '',
    'a"b\\',
    '12',
    '-1',
  ),
)
/** Members that nobody here knows, as JSON text. */
const further = fc
  .array(fc.tuple(name, fc.oneof(fc.json({ maxDepth: 3 }), fc.constantFrom('1e21', '5e-324', '0.1', '-1.5e-9'))), {
    maxLength: 3,
  })
  .map((members) => members.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(JSON.parse(value))}`))
const special = (kind: string) => `{"type":"special","value":{"kind":"${kind}"}}`
const path = fc.oneof(
  fc.constantFrom('root', 'minimal', 'tmpdir', 'slash_tmp', 'project_roots', 'current_working_directory').map(special),
  fc
    .string({ unit: 'grapheme', maxLength: 6 })
    .map((text) => `{"type":"path","path":${JSON.stringify(`/${text.replaceAll('\0', '')}`)}}`),
  fc.constant('{"type":"glob_pattern","pattern":"**/*.env"}'),
)
const object = (members: readonly string[], more: readonly string[]) => `{${[...members, ...more].join(',')}}`
const entry = fc
  .tuple(path, fc.constantFrom('read', 'write', 'deny', 'none'), further)
  .map(([at, access, more]) => object([`"path":${at}`, `"access":"${access}"`], more))
const network = fc.constantFrom('"network":"restricted"', '"network":"enabled"')
const fileSystem = fc.oneof(
  further.map((more) => object(['"type":"unrestricted"'], more)),
  fc
    .tuple(fc.array(entry, { maxLength: 4 }), further)
    .map(([entries, more]) => object(['"type":"restricted"', `"entries":[${entries.join(',')}]`], more)),
)
const profile = fc.oneof(
  further.map((more) => object(['"type":"disabled"'], more)),
  fc.tuple(network, further).map(([net, more]) => object(['"type":"external"', net], more)),
  fc
    .tuple(fileSystem, network, further)
    .map(([files, net, more]) => object(['"type":"managed"', `"file_system":${files}`, net], more)),
)
it(`${POLICIES} policies by chance, unknown members and all, reach every server byte for byte`, async () => {
  let told = 0
  await fc.assert(
    fc.asyncProperty(profile, async (text) => {
      const permissions: JsonObject = JSON.parse(text)
      const sent = JSON.stringify(permissions)
      for (const { server, state, exact } of await tell(permissions)) {
        const root = JSON.stringify({ type: 'path', path: CWD[server] })
        // The one thing that is changed on the way: roots are told as paths.
        const expected = sent
          .replaceAll(special('project_roots'), root)
          .replaceAll(special('current_working_directory'), root)
        if (state !== stateOf(expected, server) || !exact)
          expect({ server, state, exact }).toEqual({ server, state: stateOf(expected, server), exact: true })
        told += 1
      }
    }),
    { numRuns: POLICIES, ...(POLICIES > 1000 && { interruptAfterTimeLimit: 1_500_000, markInterruptAsFailure: true }) },
  )
  expect(told).toBeGreaterThanOrEqual(POLICIES * SERVERS.length)
}, 1_600_000)

it('a state of 5 MB is carried whole', async () => {
  const permissions: JsonObject = { type: 'disabled', later: 'ä'.repeat(2_500_000) }
  for (const { server, state, exact, sha256 } of await tell(permissions)) {
    const text = stateOf(JSON.stringify(permissions), server)
    const digest = createHash('sha256').update(text).digest('hex')
    expect({ server, state, exact, sha256 }).toEqual({ server, state: null, exact: true, sha256: digest })
  }
}, 60_000)
