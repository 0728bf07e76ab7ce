import { describe, expect, it } from 'vitest'
import { escapeVariables, expandEntry } from './expand.js'
import type { RawTable } from './source/raw.js'

const ENVIRONMENT = { HOST: 'h', EMPTY: '', SECRET: `\${HOST}` }
const expand = (entry: RawTable) => expandEntry(entry, ['mcp_servers', 'x'], ENVIRONMENT)
const text = (value: string) => {
  const { entry, faults } = expand({ command: value })
  return faults.length === 0 ? entry.command : faults[0]?.code
}

describe('expansion of variables', () => {
  it.each([
    [`\${HOST}`, 'h'],
    [`a\${HOST}b\${HOST}`, 'ahbh'],
    [`\${EMPTY}`, ''],
    [`\${EMPTY:-d}`, ''],
    [`\${NONE:-d}`, 'd'],
    [`\${NONE:-}`, ''],
    [`\${NONE:-a:-b}`, 'a:-b'],
    [`$\${HOST}`, `\${HOST}`],
    ['$HOST $ {HOST} $', '$HOST $ {HOST} $'],
    [`\${SECRET}`, `\${HOST}`],
  ])('makes of %s %s', (written, expected) => {
    expect(text(written)).toBe(expected)
  })

  it.each([
    [`\${NONE}`, 'undefined_variable'],
    [`\${constructor}`, 'undefined_variable'],
    [`\${__proto__}`, 'undefined_variable'],
    [`\${input:token}`, 'needs_input'],
    [`\${HOST`, 'invalid_variable'],
    [`\${}`, 'invalid_variable'],
    [`\${1X}`, 'invalid_variable'],
    [`\${A:-\${HOST}}`, 'invalid_variable'],
    [`\${command:x}`, 'invalid_variable'],
  ])('names %s as %s', (written, code) => {
    expect(text(written)).toBe(code)
  })

  it('reaches command, args, env, url, headers and cwd, and nothing else', () => {
    const entry = {
      command: `\${HOST}`,
      args: [`\${HOST}`, 'b'],
      env: { A: `\${HOST}` },
      url: `\${HOST}`,
      http_headers: { A: `\${HOST}` },
      cwd: `\${HOST}`,
      env_vars: [`\${HOST}`],
      bearer_token_env_var: `\${HOST}`,
      tools: { t: { approval_mode: `\${HOST}` } },
    }
    expect(expand(entry).entry).toEqual({
      ...entry,
      command: 'h',
      args: ['h', 'b'],
      env: { A: 'h' },
      url: 'h',
      http_headers: { A: 'h' },
      cwd: 'h',
    })
  })

  it('says which member holds a variable that is not set', () => {
    expect(
      expand({ args: ['a', `\${NONE}`], env: { A: `\${NONE}` } }).faults.map(({ path, variable }) => [path, variable]),
    ).toEqual([
      [['mcp_servers', 'x', 'args', '1'], 'NONE'],
      [['mcp_servers', 'x', 'env', 'A'], 'NONE'],
    ])
  })

  it('gives back the same entry when there is nothing to do', () => {
    const entry = { command: 'a', env: { A: 'b' } }
    expect(expand(entry)).toMatchObject({ changed: false })
    expect(expand(entry).entry).toBe(entry)
  })

  it('undoes what escaping does', () => {
    for (const written of [`\${HOST}`, `$\${HOST}`, 'a$', `\${`]) expect(text(escapeVariables(written))).toBe(written)
  })
})
