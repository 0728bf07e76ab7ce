import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadConfig } from './load.js'

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'reeve-config-'))
})
afterEach(() => rmSync(home, { recursive: true }))

const load = (cwd = home) => loadConfig({ home, cwd, env: {}, requirementsFile: join(home, 'none') })
const write = (text: string, folder = home) => writeFileSync(join(folder, 'config.toml'), text)

describe('[broker]', () => {
  it('says how long the broker stays without a client', async () => {
    expect((await load()).broker).toEqual({})
    write('[broker]\nidle_timeout_sec = 90\n')
    expect(await load()).toMatchObject({ broker: { idleMs: 90_000 }, problems: [] })
  })

  it.each(['0', '-1', '2000001', '1.5', '"60"'])('is no number of seconds that can be used: %s', async (value) => {
    write(`[broker]\nidle_timeout_sec = ${value}\n[mcp_servers.a]\ncommand = "c"\n`)
    const { broker, problems, servers } = await load()
    expect(broker).toEqual({})
    expect(problems).toMatchObject([{ severity: 'error', path: ['broker', 'idle_timeout_sec'] }])
    expect(servers).toHaveLength(1)
  })

  it('is not for a project to say', async () => {
    const project = join(home, 'project')
    mkdirSync(join(project, '.reeve'), { recursive: true })
    write(`[projects.${JSON.stringify(project)}]\ntrust_level = "trusted"\n`)
    write('[broker]\nidle_timeout_sec = 90\n', join(project, '.reeve'))
    expect((await load(project)).broker).toEqual({})
  })
})
