import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import type { Json } from './shapes.js'
import { MODES, type Mode } from './side.js'

/** A difference on purpose: where it shows, what says why, and what each side does there that the other does not. */
const Difference = z.strictObject({
  scenario: z.string(),
  question: z.string(),
  modes: z.array(z.enum(MODES)).min(1),
  /** Section of a reference, or topic of its last section. */
  section: z.string().min(1),
  why: z.string().min(1),
  codex: z.json(),
  ours: z.json(),
})

const FILE = join(dirname(fileURLToPath(import.meta.url)), 'differences.json')

export const DIFFERENCES = z.array(Difference).parse(JSON.parse(readFileSync(FILE, 'utf8')))

export function differencesAt(scenario: string, mode: Mode) {
  return DIFFERENCES.filter((one) => one.scenario === scenario && one.modes.includes(mode))
}

/** Null when the answers are equal. Of lists in the same order only what stands in one of them. */
export function differenceOf(codex: Json, ours: Json): { readonly codex: Json; readonly ours: Json } | null {
  if (JSON.stringify(codex) === JSON.stringify(ours)) return null
  if (!isList(codex) || !isList(ours)) return { codex, ours }
  const isShared = (line: Json) => codex.includes(line) && ours.includes(line)
  const sameOrder = codex.filter(isShared).join('\n') === ours.filter(isShared).join('\n')
  if (!sameOrder) return { codex, ours }
  return { codex: codex.filter((line) => !isShared(line)), ours: ours.filter((line) => !isShared(line)) }
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}
