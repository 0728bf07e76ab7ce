import { describe, expect, it } from 'vitest'
import { parseCodexConfig } from './codex-config.js'
import { maskServer, maskUrl } from './mask.js'

function mask(toml: string): unknown {
  const [server] = parseCodexConfig(`[mcp_servers.x]\n${toml}`).servers
  if (server === undefined) throw new Error('no server')
  return maskServer(server.config).transport
}

describe('masking', () => {
  it('hides every literal value of variables and headers, and shows which variables are used', () => {
    expect(mask(`command = "c"\nenv = { A = "1", B = "\${B}", C = "\${C:-secret}", D = "x\${D}" }`)).toMatchObject({
      env: { A: '*****', B: `\${B}`, C: '*****', D: '*****' },
    })
    expect(mask(`url = "http://h/"\nhttp_headers = { Authorization = "Bearer \${T}", X = "Bearer t" }`)).toMatchObject({
      httpHeaders: { Authorization: `Bearer \${T}`, X: '*****' },
    })
  })

  it.each([
    [
      ['--api-key', 'abc'],
      ['--api-key', '*****'],
    ],
    [
      ['--token=abc', '--port=8080'],
      ['--token=*****', '--port=8080'],
    ],
    [
      ['-e', 'GITHUB_TOKEN=abc', '-e', 'MODE=x'],
      ['-e', 'GITHUB_TOKEN=*****', '-e', 'MODE=x'],
    ],
    [
      ['--header', 'Authorization: Bearer abc'],
      ['--header', 'Authorization: *****'],
    ],
    [
      ['--header', `Authorization:\${AUTH}`],
      ['--header', `Authorization:\${AUTH}`],
    ],
    [
      ['sk-abcdefghijklmnop', 'ghp_0123456789abcdef'],
      ['*****', '*****'],
    ],
    [
      ['--password', '--verbose'],
      ['--password', '--verbose'],
    ],
    [['postgres://me:pw@h/db'], ['postgres://*****@h/db']],
    [
      ['-y', '@scope/server-token', '/srv/keys'],
      ['-y', '@scope/server-token', '/srv/keys'],
    ],
  ])('hides secrets in arguments: %j', (args, expected) => {
    expect(mask(`command = "c"\nargs = ${JSON.stringify(args)}`)).toMatchObject({ args: expected })
  })

  it.each([
    ['https://h/mcp?token=abc&project=p', 'https://h/mcp?token=*****&project=p'],
    ['https://user:pw@h/mcp', 'https://*****@h/mcp'],
    [`https://h/mcp?api_key=\${KEY}`, `https://h/mcp?api_key=\${KEY}`],
    ['https://h/s/NDQ0NGRkZjAtYWJjZC00NTY3LTg5MDEyMzQ1/mcp', 'https://h/s/*****/mcp'],
    [
      'https://h/projects/my-first-project-with-a-long-name/mcp',
      'https://h/projects/my-first-project-with-a-long-name/mcp',
    ],
    ['not a url', 'not a url'],
  ])('hides secrets in URLs: %s', (url, expected) => {
    expect(maskUrl(url)).toBe(expected)
  })
})
