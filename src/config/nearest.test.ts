import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nearest } from './nearest.js'

const MEMBERS = ['command', 'args', 'env', 'env_vars', 'startup_timeout_sec', 'http_headers']

describe('the nearest name', () => {
  it.each([
    ['comand', 'command'],
    ['commnad', 'command'],
    ['Args', 'args'],
    ['startupTimeoutSec', 'startup_timeout_sec'],
    ['http-header', 'http_headers'],
    ['start', 'startup_timeout_sec'],
  ])('of %s is %s', (word, expected) => {
    expect(nearest(word, MEMBERS)).toBe(expected)
  })

  it.each(['zzz', '', 'description', 'x'.repeat(100_000)])('of %.20s is none', (word) => {
    expect(nearest(word, MEMBERS)).toBeUndefined()
  })

  it('is always a candidate, and never the word itself', () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.string()), (word, candidates) => {
        const found = nearest(word, candidates)
        if (found === undefined) return
        expect(candidates).toContain(found)
        expect(found).not.toBe(word)
      }),
    )
  })
})
