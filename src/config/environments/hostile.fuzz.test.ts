import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { writeEntry } from '../edit/toml-write.js'
import { loadConfig } from '../load.js'
import type { Raw } from '../source/raw.js'
import { ENVIRONMENT_MEMBERS } from './members.js'
import { environmentIdFault, environmentUrlFault } from './rules.js'

let home: string
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'reeve-hostile-'))
})
afterAll(() => rmSync(home, { recursive: true, force: true }))

const scalar: fc.Arbitrary<Raw> = fc.oneof(
  fc.string(),
  fc.constantFrom('ws://127.0.0.1:1', 'wss://h', 'ws://', 'none', 'local', '/srv', 'C:\\x', `\${X}`, '__proto__'),
  fc.bigInt({ min: -5n, max: 5n }),
  fc.boolean(),
  fc.double({ noNaN: true }),
)
const value: fc.Arbitrary<Raw> = fc.oneof(
  { weight: 4, arbitrary: scalar },
  { weight: 1, arbitrary: fc.array(scalar, { maxLength: 3 }) },
  {
    weight: 1,
    arbitrary: fc.dictionary(fc.constantFrom('A', '__proto__', 'constructor'), scalar, { noNullPrototype: false }),
  },
)
const member = fc.constantFrom(...Object.keys(ENVIRONMENT_MEMBERS), 'foo', '__proto__', 'constructor', 'toString')
const odd = fc.uniqueArray(fc.tuple(member, value), { selector: ([name]) => name, maxLength: 6 })
/** One that could be right, with one odd member more. */
const likely = fc
  .tuple(fc.constantFrom('a', 'b', 'c'), fc.constantFrom(['url', 'wss://h'] as const, ['program', 'p'] as const), odd)
  .map(([id, way, [extra]]): [string, Raw][] => {
    const right: [string, Raw][] = [['id', id], [...way]]
    return extra === undefined || right.some(([name]) => name === extra[0]) ? right : [...right, extra]
  })
const entry = fc.oneof(odd, likely)
const section = fc.array(fc.tuple(fc.constantFrom('environments', 'capability_roots'), entry), { maxLength: 4 })

const toml = (sections: readonly (readonly [string, readonly (readonly [string, Raw])[]])[]) =>
  sections
    .map(([name, members]) => `[[${name}]]\n${members.map(([key, of]) => `${writeEntry([key], of)}\n`).join('')}`)
    .join('\n')

describe('environments of any file', () => {
  it('are loaded or told, one by one, and never raise anything', async () => {
    let accepted = 0
    await fc.assert(
      fc.asyncProperty(section, section, fc.boolean(), async (file, config, strict) => {
        writeFileSync(join(home, 'environments.toml'), toml(file.filter(([name]) => name === 'environments')))
        writeFileSync(join(home, 'config.toml'), toml(config))
        const { environments, problems } = await loadConfig({ home, cwd: home, env: {}, strict })
        for (const { id, connection } of environments.entries) {
          expect(environmentIdFault(id)).toBeUndefined()
          if (connection.kind === 'url') expect(environmentUrlFault(connection.url)).toBeUndefined()
          else expect(connection.program).not.toBe('')
        }
        accepted += environments.entries.length
        const ids = ['local', ...environments.entries.map(({ id }) => id)]
        expect(new Set(ids).size).toBe(ids.length)
        for (const id of environments.defaultSelection) expect(ids).toContain(id)
        for (const problem of problems) expect(problem.place).toContain(home)
      }),
      { numRuns: 500 },
    )
    expect(accepted).toBeGreaterThan(50)
  })

  it('tell of any text as the file without raising', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 200 }), async (text) => {
        writeFileSync(join(home, 'config.toml'), '')
        writeFileSync(join(home, 'environments.toml'), text)
        await loadConfig({ home, cwd: home, env: {} })
      }),
      { numRuns: 200 },
    )
  })
})
