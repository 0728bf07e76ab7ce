import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { captureRun } from '../../test/captured-cli.js'

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'reeve-main-'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

async function reeve(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const { code, stdout, stderr } = await captureRun(args, { env: { HOME: home, REEVE_HOME: home }, cwd: home }).ended
  return { code, stdout, stderr }
}

describe('the command line', () => {
  it('prints help when it is given nothing, and for --help and help', async () => {
    for (const args of [[], ['--help'], ['help'], ['-h']]) {
      const { code, stdout, stderr } = await reeve(...args)
      expect(code).toBe(0)
      expect(stderr).toBe('')
      expect(stdout).toContain('Usage: reeve')
      expect(stdout).toMatch(/^\s+call .*call a tool$/m)
    }
    expect((await reeve('call', '--help')).stdout).toContain('--input <json>')
  })

  it('prints its version', async () => {
    expect(await reeve('--version')).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
      stderr: '',
    })
  })

  it.each([
    [['tols'], "unknown command 'tols' (Did you mean tools?)"],
    [['tools', '--jsno'], "unknown option '--jsno' (Did you mean --json?)"],
    [['call', 'x'], "missing required argument 'tool'"],
    [['status', 'a', 'b'], 'too many arguments'],
    [['--log-level', 'loud', 'status'], "argument 'loud' is invalid"],
    [['tools', '--env', 'devbox'], '--env goes with the NAME of a server'],
    [['call', 'x', 'y', '--timeout', 'soon'], '--timeout takes seconds'],
    [['call', 'x', 'y', '--input', '{'], '--input is not JSON'],
    [['call', 'x', 'y', '-', '--input', '{}'], 'not both'],
  ])('refuses %j with the closest name or what is expected, and code 2', async (args, text) => {
    const { code, stdout, stderr } = await reeve(...args)
    expect(stderr).toContain(text)
    expect(stderr).toMatch(/^error: /)
    expect(stdout).toBe('')
    expect(code).toBe(2)
  })

  it.each([
    [['tols'], 'reeve --help'],
    [['tols', 'list'], 'reeve --help'],
    [['--json', 'tools', '--jsno'], undefined],
    [['tools', '--jsno'], 'reeve tools --help'],
    [['-q', 'audit', '--limit', 'x'], 'reeve audit --help'],
    [['approvals', 'forget'], 'reeve approvals --help'],
    [['env', 'add', '--nope'], 'reeve env add --help'],
  ])('says whose help to see: %j', async (args, help) => {
    const { code, stderr } = await reeve(...args)
    expect(code).toBe(2)
    if (help === undefined) expect(stderr).not.toContain('See')
    else expect(stderr).toContain(`  See '${help}'.\n`)
  })

  it('gives failures as JSON with --json, wherever it stands before --', async () => {
    const { code, stderr } = await reeve('tols', '--json')
    expect(code).toBe(2)
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'usage', message: expect.stringContaining('tols') } })
    expect((await reeve('tols', '--', '--json')).stderr).toMatch(/^error: /)
  })
})
