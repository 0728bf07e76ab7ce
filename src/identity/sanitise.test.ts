import { describe, expect, it } from 'vitest'
import { sanitise, serverPrefix } from './sanitise.js'

describe('sanitised names', () => {
  it('replace each character, not each byte or code unit', () => {
    expect(sanitise('weird.name/with chars')).toBe('weird_name_with_chars')
    expect(sanitise('記é😀\ud800')).toBe('____')
    expect(sanitise('')).toBe('_')
  })

  it('make the prefix text of a server', () => {
    expect(serverPrefix('Some-Server')).toBe('mcp__Some_Server__')
  })
})
