import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { fixture, isRunning } from '../fixtures/stdio/running.js'
import { buildCli, type CliHome, cliHome, echo, printed } from './built-cli.js'

beforeAll(buildCli)

interface Told {
  readonly severity: string
  readonly code: string
  readonly place: string
  readonly message: string
  readonly mend?: string
  readonly server?: string
}

async function examine(home: CliHome, ...args: string[]) {
  const { code, stdout } = await home.reeve(['doctor', '--json', ...args])
  const report: { ok: boolean; findings: Told[]; servers: { server: string; status: string }[] } = JSON.parse(stdout)
  return { code, ...report, told: (wanted: string) => report.findings.filter((finding) => finding.code === wanted) }
}

describe('reeve doctor', () => {
  it('has nothing to say about a healthy home', async () => {
    await using home = await cliHome({ notes: echo() })
    const { code, stdout } = await home.reeve(['doctor'])
    expect(stdout).toMatch(/^no problems; 1 server up, \d+ tools\nlauncher of sandboxed commands: .+\n$/)
    expect(code).toBe(0)
  })

  it('names a program that is not there, by file and line, and a server that ends, with its last words', async () => {
    await using home = await cliHome({
      gone: { command: 'no-such-program-anywhere' },
      dying: { command: process.execPath, args: ['-e', 'console.error("no licence found"); process.exit(3)'] },
      fine: echo(),
    })
    const { code, ok, told, servers } = await examine(home)
    expect(code).toBe(1)
    expect(ok).toBe(false)
    expect(told('program_missing')).toMatchObject([
      { server: 'gone', place: `${join(home.folder, 'config.toml')}:1 mcp_servers.gone.command` },
    ])
    const [dying] = told('startup_failed')
    expect(dying).toMatchObject({
      server: 'dying',
      place: expect.stringMatching(/config\.toml:\d+ mcp_servers\.dying$/),
    })
    expect(dying?.message).toMatch(/exited with code 3; last on stderr:\n +no licence found/)
    expect(told('startup_failed')).toHaveLength(1)
    expect(servers).toContainEqual(expect.objectContaining({ server: 'fine', status: 'connected' }))
    expect((await home.reeve(['doctor'])).stdout).toMatch(/^ +no licence found$/m)
  })

  it('tells what sandboxed commands are run through, and names a launcher that is none', async () => {
    await using home = await cliHome({ notes: echo() })
    const file = join(home.folder, 'config.toml')
    const servers = readFileSync(file, 'utf8')
    writeFileSync(file, `launcher = "none"\n${servers}`)
    expect((await home.reeve(['doctor'])).stdout).toContain('launcher of sandboxed commands: none (switched off)\n')
    writeFileSync(file, `launcher = ${JSON.stringify(process.execPath)}\n${servers}`)
    const { code, told } = await examine(home)
    expect(told('launcher_refused')).toMatchObject([{ severity: 'error', place: 'launcher' }])
    expect(code).toBe(1)
  })

  it('names odd tools by server, tool and field', async () => {
    await using home = await cliHome({
      odd: echo('--duplicate-tool', '--long-name', '300', '--recursive-schema', '--schema-kb', '220'),
    })
    const { told, code } = await examine(home)
    expect(told('tool_duplicate')).toMatchObject([{ severity: 'error', place: 'odd/echo', server: 'odd' }])
    expect(told('tool_name_long')).toMatchObject([
      { severity: 'warning', message: expect.stringContaining('300 characters') },
    ])
    expect(told('schema_recursive')[0]?.place).toMatch(/^odd\/tree inputSchema\./)
    expect(told('schema_large')).toMatchObject([{ place: 'odd/wide inputSchema' }])
    expect(code).toBe(1)
  })

  it('names problems of the configuration, and checks only that with --no-start', async () => {
    await using home = await cliHome({ notes: { ...echo(), comand: 'typo' }, broken: { command: 7 } })
    const { code, findings, servers, told } = await examine(home, '--no-start')
    expect(code).toBe(1)
    expect(servers).toEqual([])
    expect(told('unknown_member')[0]?.message).toContain('did you mean `command`')
    expect(findings.find(({ server }) => server === 'broken')).toMatchObject({
      severity: 'error',
      place: expect.stringMatching(/config\.toml:\d+/),
    })
    const text = await home.reeve(['doctor', '--no-start'])
    expect(text.stdout).toContain('no server was started')
  })

  it('looks at one server where it is named', async () => {
    await using home = await cliHome({ notes: echo(), gone: { command: 'no-such-program-anywhere' } })
    expect(await examine(home, 'notes')).toMatchObject({ code: 0, findings: [] })
    const unknown = await home.reeve(['doctor', 'ntoes'])
    expect(unknown).toMatchObject({ code: 1, stdout: '' })
    expect(unknown.stderr).toContain("Did you mean 'notes'?")
  })

  it.skipIf(process.platform === 'win32')('names what others may read, with the command that mends it', async () => {
    await using home = await cliHome({ notes: echo() })
    chmodSync(home.folder, 0o755)
    writeFileSync(join(home.folder, 'credentials.json'), '{}', { mode: 0o644 })
    const { told, code } = await examine(home, '--no-start')
    expect(told('home_readable')).toMatchObject([{ severity: 'warning', mend: `chmod 700 '${home.folder}'` }])
    expect(told('file_readable')).toMatchObject([{ place: join(home.folder, 'credentials.json') }])
    expect(code).toBe(1)
  })

  it.skipIf(process.platform === 'win32')('ends and names what a killed reeve left running', async () => {
    const stubborn = { command: process.execPath, args: [fixture('stubborn.mjs')] }
    await using home = await cliHome({ stubborn })
    const calling = home.start(['--log-level', 'info', 'call', 'stubborn', 'echo'])
    await printed(calling, /server ready/)
    const leader = leaderIn(join(home.folder, 'run'))
    process.kill(calling.child.pid ?? 0, 'SIGKILL')
    await calling.exited
    expect(isRunning(leader)).toBe(true)
    const { told, code } = await examine(home, '--quiet')
    expect(told('orphan_ended')).toMatchObject([{ place: 'stubborn', message: expect.stringContaining(`${leader}`) }])
    expect(isRunning(leader)).toBe(false)
    expect(code).toBe(0)
  })
})

/** The process that a journal file in the home tells of. */
function leaderIn(folder: string): number {
  const [file] = readdirSync(folder).filter((name) => name.endsWith('.json'))
  return JSON.parse(readFileSync(join(folder, file ?? 'no journal'), 'utf8')).leader.pid
}

describe('reeve status', () => {
  it('shows what became of each server; fine only when all that are enabled came up', async () => {
    await using home = await cliHome({
      notes: echo('--server-version', '4.5.6'),
      off: { ...echo(), enabled: false },
      gone: { command: 'no-such-program-anywhere' },
    })
    const all = await home.reeve(['status'])
    expect(all.code).toBe(1)
    expect(all.stdout).toMatch(/^notes +✓ connected +stdio +\d+ +echo 4\.5\.6/m)
    expect(all.stdout).toMatch(/^off +⊘ disabled/m)
    expect(all.stdout).toMatch(/^gone +✗ failed .*no such program/m)
    const one = await home.reeve(['status', 'notes', '--json'])
    expect(one.code).toBe(0)
    expect(JSON.parse(one.stdout)).toMatchObject({
      servers: [{ server: 'notes', environment_id: null, status: 'connected', transport: 'stdio', error: null }],
    })
    expect((await home.reeve(['status', 'gone'])).code).toBe(1)
  })
})
