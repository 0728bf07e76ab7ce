import type { Combination } from './combinations.js'

/** A cell, or all cells that agree in the members given, that the protocol leaves no way for. */
export interface Refusal extends Partial<Combination> {
  readonly feature: string
  /** What the client is told; a cell that fails in another way fails the run. */
  readonly answer: { readonly code?: number; readonly message?: RegExp }
  readonly reason: string
  /** Revision and section of the specification. */
  readonly spec: string
}

/** Everything else must be green. A cell that is listed here and comes out green fails the run too. */
export const REFUSALS: readonly Refusal[] = []

export function refusalOf(combination: Combination, feature: string): Refusal | undefined {
  return REFUSALS.find(
    (refusal) =>
      refusal.feature === feature &&
      MEMBERS.every((member) => refusal[member] === undefined || refusal[member] === combination[member]),
  )
}

const MEMBERS = ['client', 'server', 'downstream', 'upstream'] as const
