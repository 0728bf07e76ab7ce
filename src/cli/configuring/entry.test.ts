import { describe, expect, it } from 'vitest'
import { entryFromOptions } from './entry.js'

describe('the sandbox of a server that is added', () => {
  it('is written as it was asked for', () => {
    expect(entryFromOptions(['srv'], { sandbox: 'read-only' })).toEqual({ command: 'srv', sandbox: 'read-only' })
  })

  it('goes with a command alone', () => {
    expect(() => entryFromOptions([], { url: 'http://127.0.0.1:1/', sandbox: 'read-only' })).toThrow(/--sandbox/)
  })
})
