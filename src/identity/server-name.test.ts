import { describe, expect, it } from 'vitest'
import { InvalidServerNameError } from '../errors.js'
import { serverKey } from './key.js'
import { checkServerName, isServerName } from './server-name.js'

describe('server names', () => {
  it('lets through what can start', () => {
    for (const name of ['a', 'npm:@scope/package.name', 'A-b_C', '__proto__', 'codex_apps']) checkServerName(name)
  })

  it('refuses the rest with the pattern and the key', () => {
    for (const name of ['', 'my notes!', 'é', 'a\n', 'a\0', '["enva","a"]']) {
      expect(isServerName(name)).toBe(false)
      expect(() => checkServerName(name, serverKey(name, 'enva'))).toThrow(InvalidServerNameError)
    }
    expect(() => checkServerName('a b')).toThrow(
      "Invalid MCP server name 'a b': must match pattern ^[a-zA-Z0-9_:@/.-]+$",
    )
  })
})
