import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { parseSandboxState } from '../../src/sandbox/command/state.js'
import { type SandboxCommandLine, sandboxCommandLine } from '../fixtures/sandbox/command-line.js'
import { NO_SANDBOX } from '../fixtures/sandbox/namespaces.js'
import { type VectorCase, vectorCases } from './cases.js'

const FILE = 'sandbox.json'
const of = (kind: string) => vectorCases(FILE).filter(({ input }) => input.kind === kind)

const ProfileInput = z.looseObject({ permissionProfile: z.unknown() })
const ProfileExpected = z.strictObject({ accepted: z.boolean(), errorStartsWith: z.string().optional() })

describe('permission profiles', () => {
  it.each(of('permissionProfile').map((one) => [one.name, one] as const))('%s', (_name, { input, expected }) => {
    const { permissionProfile } = ProfileInput.parse(input)
    const { accepted, errorStartsWith } = ProfileExpected.parse(expected)
    const json = JSON.stringify({ permissionProfile, sandboxCwd: 'file:///workspace/a' })
    if (accepted) parseSandboxState(json, 'linux')
    else expect(() => parseSandboxState(json, 'linux')).toThrow(errorStartsWith?.replace(/^Error: /, ''))
  })
})

const CommandInput = z.looseObject({
  arguments: z.array(z.union([z.string(), z.strictObject({ json: z.unknown() })])),
  command: z.array(z.string()).nullable(),
})
const CommandExpected = z.strictObject({
  exit: z.number(),
  stdout: z.string().optional(),
  stderr: z.string().optional(),
  stderrContains: z.string().optional(),
})

/** Words of the reference's parser: what is wrong with the text itself, our own parser says in its own. */
const OWN_WORDS: ReadonlySet<string> = new Set(['command: bad json', 'command: json not object'])
const PREFIX = 'invalid --sandbox-state-json value:'

/** Refused before anything is sandboxed, or never sandboxed. */
const needsNoSandbox = ({ expected, input }: VectorCase) =>
  CommandExpected.parse(expected).stderr !== undefined || JSON.stringify(input).includes('"disabled"')

describe('the sandbox command', () => {
  let reeve: SandboxCommandLine
  let root: string
  beforeAll(async () => {
    reeve = await sandboxCommandLine()
    root = await realpath(await mkdtemp(join(tmpdir(), 'reeve-vectors-')))
    await mkdir(join(root, 'a', '.git'), { recursive: true })
    await mkdir(join(root, 'other'))
    await writeFile(join(root, 'other', 'secret.txt'), 's\n')
  })
  afterAll(async () => {
    await reeve[Symbol.asyncDispose]()
    await rm(root, { recursive: true })
  })

  /** The paths of the vectors, in this test's own folder; `%6F` is one letter of theirs. */
  const placed = (text: string): string =>
    text
      .replaceAll('/w%6Frkspace', root.replace('reeve', 'r%65eve'))
      .replaceAll('/workspace', root)
      .replaceAll('/opt/codex', dirname(process.execPath))

  function check({ name, input, expected }: VectorCase): void {
    const { arguments: options, command } = CommandInput.parse(input)
    const wanted = CommandExpected.parse(expected)
    const given = options.map((one) => placed(typeof one === 'string' ? one : JSON.stringify(one.json)))
    const [program = '', ...script] = [reeve.command, ...reeve.args]
    const run = spawnSync(program, [...script, ...given, '--', ...(command ?? []).map(placed)], {
      encoding: 'utf8',
      env: { PATH: '/usr/bin:/bin', HOME: root },
    })
    expect(run.status, run.stderr).toBe(wanted.exit)
    if (wanted.stdout !== undefined) expect(run.stdout).toBe(placed(wanted.stdout))
    if (wanted.stderrContains !== undefined) expect(run.stderr).toContain(wanted.stderrContains)
    if (wanted.stderr !== undefined) {
      expect(text(run.stderr)).toContain(OWN_WORDS.has(name) ? PREFIX : text(placed(wanted.stderr)))
    }
  }

  const cases = of('sandboxCommand').map((one) => [one.name, one] as const)
  it.each(cases.filter(([, one]) => needsNoSandbox(one)))('%s', (_name, one) => check(one))
  describe.skipIf(NO_SANDBOX !== undefined)(`in a sandbox${NO_SANDBOX === undefined ? '' : ` (${NO_SANDBOX})`}`, () => {
    it.each(cases.filter(([, one]) => !needsNoSandbox(one)))('%s', (_name, one) => check(one))
  })
})

/** What is said, without the word that goes before it, and in one line. */
function text(stderr: string): string {
  return stderr
    .replace(/^error: /i, '')
    .replaceAll('\\n', ' ')
    .replace(/\s+/g, ' ')
    .trim()
}
