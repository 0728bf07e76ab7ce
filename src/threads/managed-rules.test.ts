import { describe, expect, it } from 'vitest'
import type { ManagedTools } from '../config/index.js'
import { asksEachTime, managedRule } from './managed-rules.js'

const file = (source: string, rules: Partial<ManagedTools>): ManagedTools => ({
  source,
  strictReview: false,
  tools: {},
  ...rules,
})

describe('what requirements demand of a tool', () => {
  it('is what they say of it, else of its server; names of prototypes are names', () => {
    const managed = [file('a', { defaultMode: 'writes', tools: { wipe: 'prompt' } })]
    expect(managedRule({ managed }, 'wipe')).toEqual({ mode: 'prompt', strictReview: false, sources: ['a'] })
    expect(managedRule({ managed }, 'constructor')).toEqual({ mode: 'writes', strictReview: false, sources: ['a'] })
    expect(managedRule({}, 'wipe')).toEqual({ strictReview: false, sources: [] })
  })

  it('is the strictest of all files, in any order', () => {
    const files = [
      file('a', { defaultMode: 'approve' }),
      file('b', { defaultMode: 'writes' }),
      file('c', { defaultMode: 'auto', strictReview: true }),
    ]
    for (const managed of [files, [...files].reverse()])
      expect(managedRule({ managed }, 'x')).toMatchObject({ mode: 'prompt', strictReview: true })
  })

  it('counts beforehand what was allowed only where it leaves that to the user', () => {
    expect(asksEachTime({})).toBe(false)
    expect(asksEachTime({ mode: 'auto' })).toBe(false)
    expect(asksEachTime({ mode: 'writes' })).toBe(true)
    expect(asksEachTime({ mode: 'approve', strictReview: true })).toBe(true)
  })
})
