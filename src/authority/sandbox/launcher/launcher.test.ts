import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createHttpClient, LocalEnvironment } from '../../../environments/index.js'
import { Launcher } from './launcher.js'
import { Launchers } from './launchers.js'
import { codexPlaces } from './named-places.js'
import { LauncherTrials } from './trials.js'

let folder: string
let host: LocalEnvironment
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'reeve-launchers-'))
  host = new LocalEnvironment({ http: createHttpClient({ env: {} }) })
})
afterEach(async () => {
  await host.close()
  rmSync(folder, { recursive: true, force: true })
})

const HELP = 'echo "  --sandbox-state-json <JSON>"'
/** Does what it says, of what the trial asks: prints the word and leaves the file alone. */
const PRINTS_THE_WORD = 'for last; do :; done; printf %s "$last"'
/** Runs the command as it is. */
const RUNS_UNHELD = 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"'

/** A program that notes each of its runs. */
function program(name: string, { help = HELP, command = PRINTS_THE_WORD } = {}): string {
  const path = join(folder, name)
  writeFileSync(
    path,
    `#!/bin/sh\necho "$2" >> '${path}.runs'\nif [ "$2" = --help ]; then ${help}; exit; fi\n${command}\n`,
    { mode: 0o755 },
  )
  return path
}

const runs = (path: string) =>
  existsSync(`${path}.runs`) ? readFileSync(`${path}.runs`, 'utf8').trim().split('\n') : []

const trials = (timeoutMs = 10_000) =>
  new LauncherTrials({ host, variables: { PATH: process.env.PATH, HOME: folder }, timeoutMs })
const open = (setting: string, places: readonly string[] = [], timeoutMs = 10_000) =>
  Launcher.open(setting, places, trials(timeoutMs))
const found = async (setting: string, timeoutMs?: number) => (await open(setting, [], timeoutMs)).current()

describe.skipIf(process.platform === 'win32')('a launcher', () => {
  it('is a program that lists the option and holds a command', async () => {
    const path = program('codex')
    expect(await found(path)).toEqual({ is: 'ready', named: path, path, source: 'configuration' })
    expect(runs(path)).toEqual(['--help', '--sandbox-state-json'])
  })

  it('is tried out once, by however many calls', async () => {
    const path = program('codex')
    const launcher = await open(path)
    expect(runs(path)).toEqual([])
    await Promise.all([launcher.current(), launcher.current()])
    await launcher.current()
    expect(runs(path)).toHaveLength(2)
  })

  it('is tried out once also when it is none', async () => {
    const path = program('codex', { command: 'exit 3' })
    const launcher = await open(path)
    for (let call = 0; call < 3; call += 1) expect(await launcher.current()).toMatchObject({ fault: 'command_failed' })
    expect(runs(path)).toHaveLength(2)
  })

  it('is tried out anew when its file is another', async () => {
    const path = program('codex', { command: 'exit 3' })
    const launcher = await open(path)
    expect(await launcher.current()).toMatchObject({ is: 'refused' })
    unlinkSync(path)
    expect(await launcher.current()).toMatchObject({ fault: 'missing' })
    program('codex')
    expect(await launcher.current()).toMatchObject({ is: 'ready' })
    chmodSync(path, 0o644)
    expect(await launcher.current()).toMatchObject({ fault: 'not_executable' })
  })

  it('is told of by where its link leads, and no more once the link leads elsewhere', async () => {
    const link = join(folder, 'link')
    const good = program('good')
    symlinkSync(good, link)
    const launcher = await open(link)
    expect(await launcher.current()).toMatchObject({ is: 'ready', named: link, path: good })
    unlinkSync(link)
    symlinkSync(program('bad', { command: RUNS_UNHELD }), link)
    expect(await launcher.current()).toMatchObject({ is: 'refused', fault: 'does_not_sandbox' })
    unlinkSync(link)
    symlinkSync(good, link)
    expect(await launcher.current()).toMatchObject({ is: 'ready', path: good })
    expect(runs(good)).toHaveLength(2)
  })

  it('is none when its file changes while it is tried out', async () => {
    const path = join(folder, 'codex')
    program('codex', { command: `${PRINTS_THE_WORD}; echo '# later' >> '${path}'` })
    expect(await found(path)).toMatchObject({ is: 'refused', fault: 'changed' })
  })

  it('gets no variable but the usual ones', async () => {
    const path = program('codex', { help: `env > '${folder}/variables'; ${HELP}` })
    const variables = { PATH: process.env.PATH, HOME: folder, CODEX_HOME: '/own', A_TOKEN: 'secret' }
    await (await Launcher.open(path, [], new LauncherTrials({ host, variables }))).current()
    const seen = readFileSync(join(folder, 'variables'), 'utf8')
    expect(seen).toContain('CODEX_HOME=/own')
    expect(seen).not.toContain('secret')
  })
})

describe.skipIf(process.platform === 'win32')('no launcher', () => {
  it('is a path to be looked up', async () => {
    for (const path of ['codex', './codex', '../bin/codex', ''])
      expect(await found(path)).toMatchObject({ is: 'refused', fault: 'not_absolute' })
  })

  it('is a folder, a device or nothing', async () => {
    mkdirSync(join(folder, 'codex'))
    expect(await found(join(folder, 'codex'))).toMatchObject({ fault: 'not_a_file' })
    expect(await found('/dev/null')).toMatchObject({ fault: 'not_a_file' })
    expect(await found(join(folder, 'gone'))).toMatchObject({ fault: 'missing' })
    expect(await found(`${folder}\0`)).toMatchObject({ fault: 'missing' })
    symlinkSync(join(folder, 'round'), join(folder, 'round'))
    expect(await found(join(folder, 'round'))).toMatchObject({ fault: 'missing' })
  })

  it('is a file that may not be executed', async () => {
    const path = program('codex')
    chmodSync(path, 0o644)
    expect(await found(path)).toMatchObject({ fault: 'not_executable' })
    expect(runs(path)).toEqual([])
  })

  it.runIf(process.platform === 'linux')('is a link to a path that is no UTF-8', async () => {
    const odd = Buffer.concat([Buffer.from(join(folder, 'codex')), Buffer.from([0xff])])
    writeFileSync(odd, '#!/bin/sh\n', { mode: 0o755 })
    symlinkSync(odd, join(folder, 'link'))
    expect(await found(join(folder, 'link'))).toMatchObject({ fault: 'not_utf8' })
  })

  it('is what no system can start', async () => {
    const path = join(folder, 'codex')
    writeFileSync(path, 'MZ', { mode: 0o755 })
    expect(await found(path)).toMatchObject({ is: 'refused' })
    writeFileSync(path, '#!/no/such/interpreter\n', { mode: 0o755 })
    expect(await found(path)).toMatchObject({ fault: 'not_started' })
  })

  it.each([
    ['prints nothing', { help: ':' }],
    ['fails at its help', { help: `${HELP}; exit 1` }],
    ['has another option', { help: 'echo "--sandbox-state-json-file <FILE>"' }],
  ])('is a program that %s', async (_, parts) => {
    const path = program('codex', parts)
    expect(await found(path)).toMatchObject({ fault: 'lacks_option' })
    expect(runs(path)).toEqual(['--help'])
  })

  it.each([
    ['runs nothing and says it did', { command: 'exit 0' }, 'command_failed'],
    ['runs the command and holds nothing', { command: RUNS_UNHELD }, 'does_not_sandbox'],
    ['fails, and not before it wrote', { command: `${RUNS_UNHELD.replace('exec ', '')}; exit 1` }, 'does_not_sandbox'],
    ['says why it fails', { command: 'echo "no user namespaces" >&2; exit 1' }, 'command_failed'],
    [
      'prints without an end',
      { command: 'while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done' },
      'too_much_output',
    ],
  ])('is a program that %s', async (_, parts, fault) => {
    expect(await found(program('codex', parts))).toMatchObject({ is: 'refused', fault })
  })

  it('says its last words', async () => {
    const path = program('codex', { command: 'echo "no user namespaces" >&2; exit 1' })
    expect(await found(path)).toMatchObject({ reason: expect.stringContaining('no user namespaces') })
  })

  it.each([
    ['its help', { help: 'sleep 600 & wait' }],
    ['the command', { command: 'sleep 600 & wait' }],
  ])('is a program that hangs at %s, and nothing of it stays', async (_, parts) => {
    expect(await found(program('codex', parts), 300)).toMatchObject({ fault: 'timed_out' })
    expect(host.running).toBe(0)
  })
})

describe('the setting', () => {
  it('none is off', async () => {
    expect(await (await open('none', [program('codex')])).current()).toEqual({ is: 'off' })
  })

  it('auto takes the first that is there, and no other when that one is none', async () => {
    const [gone, bad, good] = [join(folder, 'gone'), program('bad', { command: 'exit 1' }), program('good')]
    expect(await (await open('auto', [gone, good, bad])).current()).toMatchObject({
      is: 'ready',
      path: good,
      source: 'auto',
    })
    expect(await (await open('auto', [gone, bad, good])).current()).toMatchObject({ is: 'refused', named: bad })
  })

  it('auto looks at the start only', async () => {
    const place = join(folder, 'codex')
    const launcher = await open('auto', [place])
    program('codex')
    expect(await launcher.current()).toEqual({ is: 'absent', looked: [place] })
  })

  it('auto knows where installers put it, and never looks at the PATH', () => {
    expect(codexPlaces('/home/me')).toContain('/home/me/.local/bin/codex')
    for (const place of [...codexPlaces('/home/me'), ...codexPlaces(undefined)]) expect(place).toMatch(/^\//)
  })
})

describe.skipIf(process.platform === 'win32')('both launchers', () => {
  it('stand side by side, and neither takes the place of the other', async () => {
    const [codex, reeve, bad] = [program('codex'), program('reeve'), program('bad', { command: 'exit 1' })]
    const paths = async (setting: string, commandLine?: string) =>
      (await Launchers.open({ setting, home: folder, commandLine, trials: trials() })).paths()
    expect(await paths(codex, reeve)).toEqual({ codexExecutable: codex, reeveExecutable: reeve })
    expect(await paths(codex)).toEqual({ codexExecutable: codex })
    expect(await paths(bad, reeve)).toEqual({ reeveExecutable: reeve })
    expect(await paths(codex, bad)).toEqual({ codexExecutable: codex })
    expect(await paths(bad, bad)).toBeUndefined()
    expect(await paths('none', reeve)).toBeUndefined()
  })

  it('say who named them, and of ours that it is ours', async () => {
    const [codex, reeve] = [program('codex'), program('reeve')]
    const launchers = await Launchers.open({ setting: codex, home: folder, commandLine: reeve, trials: trials() })
    expect(await launchers.findings()).toMatchObject({ codex: { source: 'configuration' }, reeve: { source: 'own' } })
  })

  it('are tried out once by all who share what is known', async () => {
    const path = program('codex')
    const known = trials()
    for (let runtime = 0; runtime < 3; runtime += 1) {
      const launchers = await Launchers.open({ setting: path, home: undefined, trials: known })
      expect(await launchers.findings()).toMatchObject({ codex: { is: 'ready' } })
    }
    expect(runs(path)).toHaveLength(2)
  })
})
