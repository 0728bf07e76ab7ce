import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { startProgram } from '../../clients/program.js'
import { cliEnvironment, reeveCommand } from '../../e2e/built-cli.js'
import { AuthorizationServer } from '../../standins/authorization-server.js'
import { startBackend } from '../../standins/backend.js'
import { startBackendProxy } from '../../standins/backend-proxy.js'
import { HUB_PATH, MODE_LINES } from '../../standins/backend-runtime.js'
import type { Scene } from './scene.js'

/** The built command line with everything logged: a login, calls with it, and calls with the account of the backend. */
export async function commandLine(homesIn: string): Promise<Scene> {
  const home = await mkdtemp(join(homesIn, 'command-line-'))
  await using backend = await startBackend()
  await using proxy = await startBackendProxy(backend)
  await using server = await AuthorizationServer.listen()
  const at = (name: string) => join(home, name)
  const { accessToken, refreshToken } = backend.model.issue({ account: 'acct-1', user: 'user-1', exp: 4_000_000_000 })
  const tokens = { access_token: accessToken, refresh_token: refreshToken, account_id: 'acct-1' }
  await writeFile(at('ca.pem'), backend.ca)
  await writeFile(at('browser.mjs'), `#!${process.execPath}\nawait fetch(process.argv[2])\n`, { mode: 0o755 })
  await writeFile(at('auth.json'), JSON.stringify({ auth_mode: 'chatgpt', tokens }), { mode: 0o600 })
  const servers = `[mcp_servers.hub]\nurl = "https://chatgpt.com${HUB_PATH}"\nauth = "chatgpt"
[mcp_servers.guarded]\nurl = "${server.resourceUrl}"\n`
  await writeFile(at('config.toml'), `${MODE_LINES.dual_header}${servers}`)
  const env = {
    ...cliEnvironment(home),
    BROWSER: at('browser.mjs'),
    REEVE_CA_CERTIFICATE: at('ca.pem'),
    HTTPS_PROXY: proxy.url,
    NO_PROXY: '127.0.0.1,localhost',
  }
  const rows: string[][] = []
  for (const args of [
    ['login', 'guarded'],
    ['call', 'guarded', 'whoami'],
    ['call', 'hub', 't'],
    ['call', 'hub', 'nothing-of-the-kind'],
    ['auth', 'status'],
    ['doctor'],
    ['logout', '--first-party'],
  ]) {
    await using program = startProgram(reeveCommand('--log-level', 'trace', ...args), { env, cwd: home })
    let stdout = ''
    program.child.stdout.on('data', (chunk: Buffer) => {
      stdout += chunk.toString()
    })
    program.child.stdin.end()
    const { code } = await program.exited
    await writeFile(at(`output-${rows.length}.txt`), `${stdout}\n${program.stderr()}`)
    rows.push([`reeve ${args.join(' ')}`, String(code), String(stdout.length + program.stderr().length)])
  }
  expect(rows.slice(0, 3).map(([, code]) => code)).toEqual(['0', '0', '0'])
  const kept: { credentials: { accessToken: string; refreshToken: string }[] } = JSON.parse(
    await readFile(at('credentials.json'), 'utf8'),
  )
  const ofLogin = kept.credentials.flatMap((one) => [one.accessToken, one.refreshToken])
  const fields = server.requests.flatMap(({ body }) => {
    const form = new URLSearchParams(body)
    return ['code', 'code_verifier', 'refresh_token', 'client_secret'].flatMap((name) => form.get(name) ?? [])
  })
  return { rows, secrets: [...backend.model.secrets, ...server.issued, ...ofLogin, ...fields], told: [] }
}
