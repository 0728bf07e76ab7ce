import { describe, expect, it } from 'vitest'
import { connectLines } from './connect-lines.js'

const url = 'http://127.0.0.1:7411/mcp'

describe('the lines that connect a client', () => {
  it('hold the token once, and name it by a variable elsewhere', () => {
    const lines = connectLines({ url, token: 'tok' }, 'linux')
    expect(lines[0]).toBe('export REEVE_TOKEN=tok')
    expect(lines.join('\n').match(/tok\b/g)).toHaveLength(1)
    expect(lines.slice(1).every((line) => line.includes('REEVE_TOKEN') && line.includes(url))).toBe(true)
  })

  it('follow the shell of the platform', () => {
    const lines = connectLines({ url, token: 'tok' }, 'win32')
    expect(lines[0]).toBe("$env:REEVE_TOKEN = 'tok'")
    expect(lines[1]).toContain('"Authorization: Bearer $env:REEVE_TOKEN"')
  })

  it('have no header where no token is needed', () => {
    expect(connectLines({ url }, 'linux').join('\n')).not.toMatch(/TOKEN|Authorization/)
  })
})
