// Random conversations with unknown members at every level, in all sixteen ways.
import { outcomes } from './outcomes.mjs'

export function fidelity() {
  return outcomes('conversations', 'test/e2e/matrix/fidelity.test.ts')
}
