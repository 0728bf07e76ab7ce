import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { buildCli, type CliHome, cliHome, echo } from './built-cli.js'

beforeAll(() => buildCli())
let home: CliHome
beforeEach(async () => {
  home = await cliHome({ plain: echo(), boxed: { ...echo(), sandbox: 'workspace-write' } })
})
afterEach(() => home[Symbol.asyncDispose]())

describe('a home that is not there', () => {
  it.each(['audit', 'approvals list', 'auth status', 'status', 'tools', 'hooks', 'doctor'])(
    'is not made by %s, which says so',
    async (verb) => {
      const typo = join(home.folder, 'typo')
      expect(await home.reeve(['--home', typo, ...verb.split(' ')])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(`there is no folder '${typo}'`),
      })
      expect(existsSync(typo)).toBe(false)
    },
  )

  it('is not made to show what was recorded or allowed in it', async () => {
    const env = { REEVE_HOME: join(home.folder, 'new') }
    for (const args of [['audit'], ['approvals', 'list'], ['approvals', 'revoke', '--all']])
      expect(await home.reeve(args, { env })).toMatchObject({ code: 0, stderr: expect.stringMatching(/^nothing /) })
    expect(existsSync(env.REEVE_HOME)).toBe(false)
  })
})

describe('the configuration', () => {
  it('is listed with the sandbox of servers that ask for one', async () => {
    const { stdout } = await home.reeve(['list'])
    expect(stdout).toMatch(/^NAME .* SANDBOX /m)
    expect(stdout).toMatch(/^boxed .* workspace-write, without network /m)
  })

  it('names what does not count in a project', async () => {
    await mkdir(join(home.folder, '.reeve'))
    await writeFile(join(home.folder, '.reeve', 'config.toml'), '[audit]\nmode = "off"\n')
    await home.reeve(['config', 'trust'])
    const { code, stdout } = await home.reeve(['config', 'check', '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout).problems).toMatchObject([
      { severity: 'warning', code: 'ignored_in_project', path: ['audit'] },
    ])
  })

  it('tells its errors on stdout where that is for programs', async () => {
    await writeFile(join(home.folder, 'config.toml'), '[mcp_servers.a]\ncommand = 3\n')
    const { code, stdout } = await home.reeve(['config', 'check', '--json'])
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({ ok: false, problems: [{ severity: 'error', server: 'a' }] })
  })
})
