import { describe, expect, it } from 'vitest'
import { COMBINATIONS, titleOf } from '../e2e/matrix/combinations.js'
import { checkFidelity } from '../e2e/matrix/fidelity/check-fidelity.js'

const CONVERSATIONS = 10

describe('what nobody knows, many times', () => {
  it.each(COMBINATIONS.map((combination) => [titleOf(combination), combination] as const))(
    'passes as it is: %s',
    async (_title, combination) => {
      const { values } = await checkFidelity(combination, CONVERSATIONS)
      expect(values).toBeGreaterThan(CONVERSATIONS * 50)
    },
  )
})
