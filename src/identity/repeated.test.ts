import { describe, expect, it } from 'vitest'
import { serverKey } from './key.js'
import { repeatedTools } from './repeated.js'

describe('repeated tools', () => {
  it('are the second of the same server and raw name, and no other', () => {
    const inputs = [
      { key: serverKey('a'), tool: 'x' },
      { key: serverKey('a'), tool: 'X' },
      { key: serverKey('a', 'enva'), tool: 'x' },
      { key: serverKey('["enva","a"]'), tool: 'x' },
      { key: serverKey('a'), tool: 'x', connectorId: 'c1' },
    ]
    expect(repeatedTools(inputs)).toEqual([])
    const again = { key: serverKey('a'), tool: 'x' }
    expect(repeatedTools([...inputs, again])).toEqual([again])
  })
})
