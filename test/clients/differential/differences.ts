import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

/** A difference on purpose: where it shows, the row of the known quirks that says why, and what each side answers. */
export type Difference = z.infer<typeof Difference>

const Difference = z.strictObject({
  scenario: z.string(),
  question: z.string(),
  /** `3`, or `30b`; several, separated by commas. Null: no row says so, which is to be decided. */
  row: z
    .string()
    .regex(/^\d+b?(, \d+b?)*$/)
    .nullable(),
  /** What the row comes to here, in a few words. */
  why: z.string().min(1),
  codex: z.json(),
  ours: z.json(),
})

const FILE = join(dirname(fileURLToPath(import.meta.url)), 'differences.json')

export const DIFFERENCES: readonly Difference[] = z.array(Difference).parse(JSON.parse(readFileSync(FILE, 'utf8')))

export function differenceAt(scenario: string, question: string): Difference | undefined {
  return DIFFERENCES.find((one) => one.scenario === scenario && one.question === question)
}
