import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { accessToken } from '../standins/backend-tokens.js'
import { buildCli, type CliHome, cliHome } from './built-cli.js'

let home: CliHome
beforeAll(buildCli)
beforeEach(async () => {
  home = await cliHome({})
})
afterEach(() => home[Symbol.asyncDispose]())

const token = accessToken({ account: 'acct-1', user: 'user-1', serial: 7, exp: 4_000_000_000 })
const record = { auth_mode: 'chatgpt', tokens: { access_token: token, account_id: 'acct-1' } }

describe('reeve and the account of the first-party backend', () => {
  it('tells who is signed in, and no secret', async () => {
    const nobody = await home.reeve(['--json', 'auth', 'status'])
    expect(JSON.parse(nobody.stdout).first_party).toMatchObject({ state: 'never', mode: 'off', kind: null })
    await writeFile(join(home.folder, 'auth.json'), JSON.stringify(record))
    const { stdout } = await home.reeve(['--json', 'auth', 'status'])
    expect(JSON.parse(stdout).first_party).toEqual({
      state: 'signed_in',
      mode: 'off',
      kind: 'chatgpt',
      account: expect.stringMatching(/^[0-9a-f]{12}$/),
      expires_at: '2096-10-02T07:06:40.000Z',
    })
    const shown = await home.reeve(['auth', 'status'])
    expect(shown.stdout).toContain('first-party backend: signed in with chatgpt, account ')
    for (const secret of [token, 'acct-1']) expect(stdout + shown.stdout + shown.stderr).not.toContain(secret)
  })

  it('prefers the token of a variable, which it can’t sign out of', async () => {
    await writeFile(join(home.folder, 'auth.json'), JSON.stringify(record))
    const env = { CODEX_ACCESS_TOKEN: 'at-1' }
    const { stdout } = await home.reeve(['--json', 'auth', 'status'], { env })
    expect(JSON.parse(stdout).first_party).toMatchObject({ state: 'signed_in', kind: 'personalAccessToken' })
    const refused = await home.reeve(['logout', '--first-party'], { env })
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('unset it') })
    expect(JSON.parse(await readFile(join(home.folder, 'auth.json'), 'utf8'))).toEqual(record)
  })

  it('signs out by --first-party alone', async () => {
    expect((await home.reeve(['logout', '--first-party'])).code).toBe(1)
    expect((await home.reeve(['logout'])).code).toBe(2)
    expect((await home.reeve(['logout', 'x', '--first-party'])).code).toBe(2)
  })
})
