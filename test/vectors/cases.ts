import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

/** The copy in this repository. */
export const COPY = dirname(fileURLToPath(import.meta.url))
/** Where the vectors are kept, next to the repository; absent on most machines. */
export const ORIGINAL = join(COPY, '..', '..', '..', 'shared', 'vectors')

const DEVIATIONS = 'deviations.json'

const Case = z.looseObject({
  name: z.string(),
  input: z.looseObject({ kind: z.string() }),
  expected: z.unknown(),
  ours: z.unknown().optional(),
})
const CaseFile = z.looseObject({ cases: z.array(Case) })
const Deviation = z.strictObject({
  file: z.string(),
  case: z.string(),
  row: z.string(),
  ours: z.unknown(),
})

/** One check: what goes in, what the reference gives, and what we give where the vectors themselves say that we differ. */
export type VectorCase = z.infer<typeof Case>

/** A case that we answer otherwise on purpose; `row` is the row of the quirk list that says so. */
export type Deviation = z.infer<typeof Deviation>

/** A vector file, parsed: the original where it exists, else the copy. */
export function readVectors(file: string): unknown {
  const original = join(ORIGINAL, file)
  return JSON.parse(readFileSync(existsSync(original) ? original : join(COPY, file), 'utf8'))
}

/** The cases of a file, e.g. `names.json`. `executor-protocol.json` has a shape of its own: take {@link readVectors}. */
export function vectorCases(file: string): readonly VectorCase[] {
  return CaseFile.parse(readVectors(file)).cases
}

export function deviations(): readonly Deviation[] {
  return z.array(Deviation).parse(JSON.parse(readFileSync(join(COPY, DEVIATIONS), 'utf8')))
}

/** What we give for a case where it differs from `expected`: from the list of deviations, else from the case itself. */
export function oursOf(file: string, { name, ours }: VectorCase): unknown {
  return deviations().find((deviation) => deviation.file === file && deviation.case === name)?.ours ?? ours
}

/** The vector files of a folder. */
export function vectorFiles(folder: string): readonly string[] {
  return readdirSync(folder)
    .filter((name) => name === 'README.md' || (name.endsWith('.json') && name !== DEVIATIONS))
    .sort()
}
