import { describe, expect, it } from 'vitest'
import { COMBINATIONS, titleOf } from './combinations.js'
import { checkFidelity } from './fidelity/check-fidelity.js'

describe('what nobody knows', () => {
  it.each(COMBINATIONS.map((combination) => [titleOf(combination), combination] as const))(
    'passes as it is: %s',
    async (_title, combination) => {
      const { values } = await checkFidelity(combination, 1)
      expect(values).toBeGreaterThan(50)
    },
  )
})
