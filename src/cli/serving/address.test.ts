import { describe, expect, it } from 'vitest'
import { UsageError } from '../usage.js'
import { addressFrom } from './address.js'

describe('the address to listen on', () => {
  it.each([
    ['127.0.0.1:7411', '127.0.0.1', 7411],
    ['localhost:0', 'localhost', 0],
    ['[::1]:8080', '::1', 8080],
    ['8080', '127.0.0.1', 8080],
  ])('%s', (text, host, port) => {
    expect(addressFrom(text)).toEqual({ host, port })
  })

  it.each([
    '',
    ':',
    'host',
    'host:',
    ':80',
    'host:65536',
    'host:-1',
    '::1:80',
    '[nonsense]:80',
    'a b:1x',
    'http://h:1',
  ])("refuses '%s'", (text) => {
    expect(() => addressFrom(text)).toThrow(UsageError)
  })
})
