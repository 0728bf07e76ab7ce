import { z } from 'zod'
import type { RuntimeAuthMode } from '../../src/auth/index.js'
import { oursOf, type VectorCase, vectorCases } from './cases.js'

export const FILE = 'runtime-auth.json'

/** Needs more than the auth room; each with what it waits for. Counted by a test, so that none is forgotten. */
export const PENDING: ReadonlyMap<string, string> = new Map([
  ['registration failure: wording for model turn', 'model turns, which the host makes'],
])

/** Cases of a kind that can be run on the auth room alone. */
export function runnable(kind: string): readonly VectorCase[] {
  return vectorCases(FILE).filter(({ input, name }) => input.kind === kind && !PENDING.has(name))
}

/** How a failed registration is told: that takes more than the auth room. */
export const isWording = ({ name }: VectorCase) => name.startsWith('registration failure: wording')

/** As it is for us: the reference's own answer where there is no other. */
export const wantedOf = (one: VectorCase): unknown => oursOf(FILE, one) ?? one.expected
export const titleOf = (one: VectorCase) => (oursOf(FILE, one) === undefined ? one.name : `${one.name}, ours`)

export const Record = z.record(z.string(), z.unknown())

/** One or several of a value, as a list. */
export const listed = <T extends z.ZodType>(shape: T) => z.union([shape.transform((one) => [one]), z.array(shape)])

const MODES = { any: ['off', 'dual_header', 'assertion_only'], runtime: ['dual_header', 'assertion_only'] } as const

/** A case's `mode`: a mode, several, or a word for several. */
export const Modes = listed(z.enum(['off', 'dual_header', 'assertion_only', 'any', 'runtime'])).transform((named) =>
  named.flatMap((mode): readonly RuntimeAuthMode[] => (mode === 'any' || mode === 'runtime' ? MODES[mode] : [mode])),
)
