import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { ConfigError } from '../errors.js'
import { parseCodexConfig } from './codex-config.js'
import { writeTable } from './edit/toml-write.js'
import { loadConfig } from './load.js'
import { serverShape } from './schema/server-shape.js'
import { isTable, rawCopy } from './source/raw.js'

const folder = mkdtempSync(join(tmpdir(), 'reeve-fuzz-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function load(name: string, text: string | Uint8Array) {
  const file = join(folder, name)
  writeFileSync(file, text)
  return loadConfig({ home: folder, env: {}, files: [file], requirementsFile: join(folder, 'none.toml') })
}

const MEMBERS = Object.keys(serverShape.schema.properties as object)
const FOREIGN = [
  'type',
  'headers',
  'httpUrl',
  'serverUrl',
  'timeout',
  'disabled',
  'oauth',
  'trust',
  'env',
  'command',
  'args',
]

/** Whatever somebody may write for a member, right types among them. */
const anyValue = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom('c', 'http://h/', `\${X}`, `\${`, '', 'auto', 'local', 'sse'),
    fc.string(),
    fc.integer(),
    fc.double({ noDefaultInfinity: true, noNaN: true }),
    fc.boolean(),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(
      fc.oneof(fc.string({ maxLength: 4 }), fc.constantFrom('__proto__', 'constructor', 'name', 'source')),
      tie('value'),
      {
        maxKeys: 3,
      },
    ),
  ),
})).value

const entries = (members: readonly string[]) =>
  fc.dictionary(
    fc.oneof(fc.string({ maxLength: 6 }), fc.constantFrom('a', 'b', '__proto__', 'toString')),
    fc.oneof(anyValue, fc.dictionary(fc.constantFrom(...members), anyValue, { maxKeys: 5 })),
    { maxKeys: 4 },
  )

/** What must hold of any file: the good sibling is there, every other server is there or is a problem with its place. */
async function holds(name: string, text: string, names: readonly string[]): Promise<void> {
  const { servers, problems } = await load(name, text)
  const found = servers.map((server) => server.name)
  expect(found).toContain('good')
  const named = new Set([
    ...found,
    ...problems.flatMap(({ server, severity }) => (severity === 'error' ? [server] : [])),
  ])
  for (const one of names) expect(named).toContain(one)
  for (const { place, message } of problems) {
    expect(place).toContain(name)
    expect(message).not.toBe('')
  }
}

describe('any file', () => {
  it('of random bytes gives problems, never an exception', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 200 }),
        fc.constantFrom('x.toml', 'x.json', 'x'),
        async (bytes, name) => {
          const { problems } = await load(name, bytes)
          for (const { place } of problems) expect(place).toContain(name)
        },
      ),
      { numRuns: 200 },
    )
  })

  it('of random text gives problems, never an exception', async () => {
    const piece = fc.constantFrom(
      '[mcp_servers.a]',
      '[[',
      ']',
      '{',
      '}',
      '"',
      "'",
      '"""',
      '=',
      ',',
      '.',
      '\n',
      'a',
      '1',
      '#',
      '//',
      '\\u',
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(piece, { maxLength: 30 }),
        fc.constantFrom('x.toml', 'x.json'),
        async (pieces, name) => {
          const { problems } = await load(name, pieces.join(''))
          for (const { place } of problems) expect(place).toContain(name)
        },
      ),
      { numRuns: 300 },
    )
  })

  it('of TOML keeps every good server and names every bad one', async () => {
    await fc.assert(
      fc.asyncProperty(entries(MEMBERS), async (servers) => {
        const tables = Object.entries({ ...servers, good: { command: 'c' } }).flatMap(([name, entry]) => {
          const table = rawCopy(entry)
          return isTable(table) ? [[name, writeTable(['mcp_servers', name], table)] as const] : []
        })
        await holds(
          'x.toml',
          tables.map(([, text]) => text).join('\n'),
          tables.map(([name]) => name),
        )
      }),
      { numRuns: 300 },
    )
  })

  it.each(['mcpServers', 'servers', 'mcp'])(
    'of JSON keeps every good server and names every bad one: %s',
    async (root) => {
      const good = root === 'mcp' ? { command: ['c'] } : { command: 'c' }
      await fc.assert(
        fc.asyncProperty(entries([...MEMBERS, ...FOREIGN]), async (servers) => {
          const all = Object.fromEntries([...Object.entries(servers), ['good', good]])
          await holds('x.json', JSON.stringify({ [root]: all }), Object.keys(all))
        }),
        { numRuns: 300 },
      )
    },
  )

  it('read as Codex reads it is taken whole or refused by a ConfigError', () => {
    fc.assert(
      fc.property(entries(MEMBERS), fc.boolean(), (servers, strict) => {
        const table = rawCopy({ x: servers })
        if (!isTable(table) || !isTable(table.x)) return
        try {
          parseCodexConfig(writeTable(['mcp_servers'], table.x), { strict })
        } catch (error) {
          expect(error).toBeInstanceOf(ConfigError)
        }
      }),
      { numRuns: 300 },
    )
  })
})
