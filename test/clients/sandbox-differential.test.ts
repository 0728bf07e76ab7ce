import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { NO_SANDBOX } from '../fixtures/sandbox/namespaces.js'
import { PROFILES } from './sandbox-profiles.js'
import { randomProfile } from './sandbox-random.js'
import { type Difference, differences, SandboxSides } from './sandbox-sides.js'

/** What `codex sandbox` and `reeve sandbox` do otherwise under one profile. */
const Differences = z.strictObject({
  /** `*`: any that restricts files. */
  profile: z.string(),
  /** Of the probe; `*` when one of both did not run the command. */
  operations: z.array(z.string()),
  codex: z.enum(['yes', 'no', 'run', 'not run']),
  reeve: z.enum(['yes', 'no', 'run', 'not run']),
  why: z.string(),
})

const LISTED = z
  .array(Differences)
  .parse(JSON.parse(readFileSync(join(dirname(fileURLToPath(import.meta.url)), 'sandbox-differences.json'), 'utf8')))

const EVERYWHERE = LISTED.filter(({ profile }) => profile === '*')

/** Without what differs under any profile (and only for root, as the operation may be). */
function particular(found: readonly Difference[]): readonly Difference[] {
  return found.filter(
    ({ operation, codex, reeve }) =>
      !EVERYWHERE.some((one) => one.operations.includes(operation) && one.codex === codex && one.reeve === reeve),
  )
}

/** The same in every run. */
const SEED = 171
const RANDOM = fc.sample(randomProfile(), { seed: SEED, numRuns: 30 })

describe.skipIf(NO_SANDBOX !== undefined)(`codex sandbox and reeve sandbox (${NO_SANDBOX ?? 'side by side'})`, () => {
  let sides: SandboxSides
  beforeAll(async () => {
    sides = await SandboxSides.open()
  })
  afterAll(() => sides[Symbol.asyncDispose]())

  it.each(PROFILES.map((row) => [row.name, row] as const))('%s', async (_name, row) => {
    const known = LISTED.filter(({ profile }) => profile === row.name)
      .flatMap(({ operations, codex, reeve }) => operations.map((operation) => ({ operation, codex, reeve })))
      .sort((a, b) => (a.operation < b.operation ? -1 : 1))
    expect(particular(differences(await sides.compare(row)))).toEqual(known)
  })

  it('lists nothing but what ours refuses, and what codex fails at by a bug of its own', () => {
    for (const { profile, codex, reeve, why } of LISTED) {
      const refuses = reeve === 'no' || reeve === 'not run'
      expect(why, `${profile}: ${codex}, ${reeve}`).toMatch(refuses ? /^ours refuses: / : /^bug of codex: /)
    }
  })

  it('lists no difference of a profile that is not tried', () => {
    const tried = PROFILES.map(({ name }) => name)
    expect(new Set(tried).size).toBe(tried.length)
    for (const { profile } of LISTED) expect(['*', ...tried]).toContain(profile)
  })

  it.each(RANDOM.map((row) => [row.name, row] as const))('random: %s', async (_name, row) => {
    const found = particular(differences(await sides.compare(row)))
    // Theirs fails at mounts within what it has sealed. Ours moves no folder of what is denied or read-only, and without
    // network no process outside is seen, whatever may be written.
    const isStricter = ({ operation, codex, reeve }: (typeof found)[number]) =>
      codex === 'yes' && reeve === 'no' && /^(move |signal outside$)/.test(operation)
    const isKnown = (one: (typeof found)[number]) =>
      (one.operation === '*' && one.codex === 'not run') || isStricter(one)
    expect(found.filter((one) => !isKnown(one))).toEqual([])
  })
})
