import { describe, expect, it } from 'vitest'
import { hookName } from './hook-name.js'

describe('the name that hooks match', () => {
  it('joins namespace and tool', () => {
    expect(hookName({ namespace: 'mcp__4398a80ccd8f__notes', name: 'whoami' })).toBe('mcp__4398a80ccd8f__notes__whoami')
  })

  it('trims underscores at the seam and adds a missing prefix', () => {
    expect(hookName({ namespace: 'codex_apps__', name: '__create' })).toBe('mcp__codex_apps__create')
    expect(hookName({ namespace: `a${'_'.repeat(100_000)}b`, name: '_' })).toMatch(/^mcp__a_+b__$/)
  })
})
