import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { buildCli, type CliHome, cliHome, echo, printed } from './built-cli.js'
import { RawSession } from './gateway/raw-http.js'

const hook = (event: string, command: string, more = '') =>
  `[[hooks.${event}]]\nmatcher = "mcp__.*"\nhooks = [{ type = "command", command = ${JSON.stringify(command)}${more} }]\n`

beforeAll(() => buildCli())
let home: CliHome
let config: string
beforeEach(async () => {
  home = await cliHome()
  config = join(home.folder, 'config.toml')
})
afterEach(() => home[Symbol.asyncDispose]())

async function listed(env: Record<string, string> = {}) {
  const { stdout } = await home.reeve(['hooks', '--json'], { env })
  return JSON.parse(stdout)
}

describe('reeve hooks', () => {
  it('lists every hook with its file, its trust, and what keeps it from running', async () => {
    await writeFile(config, hook('PreToolUse', 'mine'))
    const env = { REEVE_REQUIREMENTS: join(home.folder, 'managed.toml') }
    await writeFile(env.REEVE_REQUIREMENTS, hook('PostToolUse', 'managed'))
    expect(await listed(env)).toMatchObject([
      {
        event: 'PostToolUse',
        handler: { command: 'managed' },
        source: { layer: 'managed' },
        trust: 'managed',
        runs: true,
      },
      { event: 'PreToolUse', matcher: 'mcp__.*', source: { file: config, line: 3 }, trust: 'trusted', runs: true },
    ])
    const { stdout } = await home.reeve(['hooks'], { env })
    expect(stdout).toMatch(/^NO +EVENT +MATCHER +HOOK +FILE +TRUST +RUNS$/m)
    expect(stdout).toMatch(/^2 +PreToolUse +mcp__\.\* +mine +\S+config\.toml:3 +trusted +yes$/m)
    expect(await home.reeve(['hooks', 'untrust', '1'], { env })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("the administrator's"),
    })
  })

  it('trusts a hook of a project as it is now, and takes that back', async () => {
    const file = join(home.folder, '.reeve', 'config.toml')
    await mkdir(join(home.folder, '.reeve'))
    await writeFile(file, hook('PreToolUse', 'theirs'))
    await home.reeve(['config', 'trust'])
    expect(await listed()).toMatchObject([
      { source: { layer: 'project' }, trust: 'untrusted', runs: false, reason: 'not trusted' },
    ])
    expect(await home.reeve(['hooks', 'trust', '1'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/it runs\n$/),
    })
    expect(await listed()).toMatchObject([{ trust: 'trusted', runs: true }])
    await writeFile(file, hook('PreToolUse', 'other'))
    expect(await listed()).toMatchObject([{ trust: 'modified', runs: false }])
    await home.reeve(['hooks', 'trust', '1'])
    expect(await home.reeve(['hooks', 'untrust', '1'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/does not run: not trusted\n$/),
    })
  })

  it('trusts and untrusts by number or by key', async () => {
    await writeFile(config, `# mine\n${hook('PreToolUse', 'mine')}`)
    const [{ key }] = await listed()
    expect(await home.reeve(['hooks', 'untrust', '1'])).toMatchObject({
      code: 0,
      stdout: `${key} is untrusted now; it does not run: switched off\n`,
    })
    expect(await listed()).toMatchObject([{ runs: false, reason: 'switched off' }])
    expect(await home.reeve(['hooks', 'trust', key])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/it runs\n$/),
    })
    expect(await listed()).toMatchObject([{ runs: true }])
    expect(await readFile(config, 'utf8')).toContain('# mine\n')
    expect(await home.reeve(['hooks', 'trust', '7'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('no hook 7'),
    })
  })

  it('shows what stands in for one that is broken, and does not trust it', async () => {
    await writeFile(config, hook('PreToolUse', 'mine', ', on_failure = "block"').replace('mcp__.*', '('))
    expect(await listed()).toMatchObject([{ handler: { type: 'broken' }, trust: 'trusted', runs: true }])
    expect(await home.reeve(['hooks', 'trust', '1'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('broken'),
    })
  })
})

describe('reeve serve', () => {
  it('says in its log that a hook fails, though calls go on without it', async () => {
    await home[Symbol.asyncDispose]()
    home = await cliHome({ notes: echo() })
    const file = join(home.folder, 'config.toml')
    await writeFile(file, `${await readFile(file, 'utf8')}\n${hook('PreToolUse', '/nowhere/check')}`)
    const program = home.start(['serve', '--http', '127.0.0.1:0'])
    const [, url = ''] = await printed(program, /^endpoint\s+(http:\S+)$/m)
    const [, token = ''] = await printed(program, /REEVE_TOKEN=(\S+)$/m)
    const session = await RawSession.open(url, { token })
    const answer = await session.request('tools/call', { name: 'notes__echo', arguments: { message: 'x' } })
    expect(await answer.json()).toMatchObject({ result: { content: [{ text: 'x' }] } })
    const [line = ''] = await printed(program, /^\{.*a hook failed.*\}$/m)
    expect(JSON.parse(line)).toMatchObject({ source: file, number: 1, msg: 'a hook failed: hook exited with code 127' })
  })
})
