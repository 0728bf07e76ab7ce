import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadConfig } from './load.js'
import { configSchema } from './schema/sections.js'

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'reeve-config-'))
})
afterEach(() => rmSync(home, { recursive: true }))

const load = (cwd = home) => loadConfig({ home, cwd, env: {}, requirementsFile: join(home, 'none') })
const write = (text: string, folder = home) => writeFileSync(join(folder, 'config.toml'), text)

describe('launcher', () => {
  it('is found by itself unless told', async () => {
    expect(await load()).toMatchObject({ launcher: 'auto', problems: [] })
  })

  it.each(['auto', 'none', '/opt/codex/codex'])('can be %s', async (setting) => {
    write(`launcher = ${JSON.stringify(setting)}\n`)
    expect(await load()).toMatchObject({ launcher: setting, problems: [] })
  })

  it.each(['"codex"', '"./codex"', '"~/codex"', '""', String.raw`"/a\u0000"`, '1', 'true', '["auto"]', '{}'])(
    'is no launcher, named with its place, and nothing is looked for in its stead: %s',
    async (value) => {
      write(`\nlauncher = ${value}\n[mcp_servers.a]\ncommand = "c"\n`)
      const { launcher, problems, servers } = await load()
      expect(launcher).toBe('none')
      expect(problems).toMatchObject([{ severity: 'error', path: ['launcher'], place: expect.stringMatching(/:2/) }])
      expect(servers).toHaveLength(1)
    },
  )

  it('is not for a project to say', async () => {
    const project = join(home, 'project')
    mkdirSync(join(project, '.reeve'), { recursive: true })
    write(`launcher = "none"\n[projects.${JSON.stringify(project)}]\ntrust_level = "trusted"\n`)
    write('launcher = "/tmp/codex"\n', join(project, '.reeve'))
    expect((await load(project)).launcher).toBe('none')
  })

  it('is what editors know', () => {
    expect(configSchema()).toMatchObject({ properties: { launcher: { type: 'string', default: 'auto' } } })
  })
})
