import { describe, expect, it } from 'vitest'
import { hintsOf, needsApproval, underManagedMode } from './modes.js'

describe('hints', () => {
  it('are booleans of the annotations, and nothing that a prototype lends', () => {
    expect(hintsOf({ annotations: { readOnlyHint: 'true', destructiveHint: 1, openWorldHint: null } })).toEqual({})
    expect(hintsOf({ annotations: ['readOnlyHint'] })).toEqual({})
    expect(hintsOf({ annotations: JSON.parse('{"__proto__":{"readOnlyHint":true}}') })).toEqual({})
    expect(needsApproval('auto', hintsOf({ annotations: 'readOnlyHint' }))).toBe(true)
  })
})

describe('a managed mode', () => {
  it.each([
    ['auto', 'prompt', 'prompt'],
    ['approve', 'prompt', 'prompt'],
    ['prompt', 'auto', 'prompt'],
    ['prompt', 'approve', 'prompt'],
    ['writes', 'approve', 'writes'],
    ['approve', 'writes', 'writes'],
    ['approve', 'auto', 'auto'],
    ['auto', 'writes', 'prompt'],
    ['writes', 'auto', 'prompt'],
    ['auto', 'auto', 'auto'],
    ['approve', 'approve', 'approve'],
    ['auto', undefined, 'auto'],
  ] as const)('makes %s under %s %s', (own, managed, wanted) => {
    expect(underManagedMode(own, managed)).toBe(wanted)
  })

  it('never lets a call run that the user wants to be asked about, nor one that it asks about itself', () => {
    const modes = ['auto', 'prompt', 'writes', 'approve'] as const
    const said = [undefined, true, false]
    for (const own of modes)
      for (const managed of modes)
        for (const readOnly of said)
          for (const destructive of said)
            for (const openWorld of said) {
              const hints = { readOnly, destructive, openWorld }
              const asked = needsApproval(underManagedMode(own, managed), hints)
              if (needsApproval(own, hints) || needsApproval(managed, hints)) expect(asked).toBe(true)
            }
  })
})
