import { describe, expect, it } from 'vitest'
import { redactedPrefix, secretsOf } from './redaction.js'

const shown = (text: string, limit = 8192, secrets: string[] = []) =>
  redactedPrefix(Buffer.from(text, 'utf8'), limit, secrets)

describe('a preview', () => {
  it('shows short text whole', () => {
    expect(shown('  not\r\n\tfound\u001b[31m  ')).toEqual({ text: 'not found [31m', dropped: 0 })
  })

  it('is cut at 8,192 bytes on a character boundary and counts what it dropped', () => {
    // 8190 bytes, then a character of four bytes across the limit, then ten more.
    const { text, dropped } = shown(`${'a'.repeat(8190)}😀${'b'.repeat(10)}`)
    expect(text).toBe('a'.repeat(8190))
    expect(dropped).toBe(14)
  })

  it('keeps a character that ends exactly at the limit', () => {
    expect(shown(`${'a'.repeat(8188)}😀b`)).toEqual({ text: `${'a'.repeat(8188)}😀`, dropped: 1 })
  })

  it.each([
    ['Authorization: Bearer abc.DEF-123_~+/= rest', 'Authorization: Bearer [redacted] rest'],
    ['"bearer  xyz"', '"bearer  [redacted]"'],
    ['?api_key=k1&x=1', '?api_key=[redacted]&x=1'],
    ['{"api_key": "k1", "x": 1}', '{"api_key": "[redacted]", "x": 1}'],
    ["apikey = 'k1'", "apikey = '[redacted]'"],
    ['X-API-Key: k1', 'X-API-Key: [redacted]'],
    ['access_token=t1;refresh_token=t2', 'access_token=[redacted];refresh_token=[redacted]'],
    ['bearer of news', 'bearer [redacted] news'],
    ['forbearer x', 'forbearer x'],
  ])('of %s is %s', (text, expected) => {
    expect(shown(text).text).toBe(expected)
  })

  it('hides what we sent, wherever it is echoed', () => {
    const secrets = secretsOf([
      ['Authorization', 'Basic dXNlcjpwYXNz'],
      ['X-Tenant-Secret', 'correct horse battery'],
      ['X-Mode', 'fast'],
    ])
    const text = 'you sent dXNlcjpwYXNz and correct horse battery in fast mode'
    expect(shown(text, 8192, secrets).text).toBe('you sent [redacted] and [redacted] in fast mode')
  })

  it('hides a secret that the cut would halve', () => {
    expect(shown('0123456789SECRETSECRET and more', 14, ['SECRETSECRET'])).toEqual({
      text: '0123456789[redacted]',
      dropped: 17,
    })
  })

  it('shows nothing of overlapping secrets', () => {
    expect(shown('a abcdefgh b', 100, ['abcdefgh', 'cdefgh b']).text).toBe('a [redacted]')
  })

  it('survives bytes that are no text', () => {
    expect(redactedPrefix(Buffer.from([0xff, 0xfe, 0x41]), 2, []).text).toContain('\ufffd')
  })
})
