import { readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type SandboxCommandLine, sandboxCommandLine } from '../fixtures/sandbox/command-line.js'
import { NO_SANDBOX } from '../fixtures/sandbox/namespaces.js'
import { type ClientHome, clientHome } from './client-home.js'
import { PEER } from './peers.js'
import { type Command, run } from './program.js'
import { type Outside, probeScript, readProbe } from './sandbox-probe.js'
import { PROFILES, type ProfileRow } from './sandbox-profiles.js'
import { sandboxTree } from './sandbox-tree.js'

/** What `codex sandbox` and `reeve sandbox` do otherwise under one profile. */
const Differences = z.strictObject({
  profile: z.string(),
  /** Of the probe; `*` when one of both did not run the command. */
  operations: z.array(z.string()),
  codex: z.enum(['yes', 'no', 'run', 'not run']),
  reeve: z.enum(['yes', 'no', 'run', 'not run']),
  why: z.string(),
})

const LISTED = z
  .array(Differences)
  .parse(JSON.parse(readFileSync(join(dirname(fileURLToPath(import.meta.url)), 'sandbox-differences.json'), 'utf8')))

interface Difference {
  readonly operation: string
  readonly codex: string
  readonly reeve: string
}

describe.skipIf(NO_SANDBOX !== undefined)(`codex sandbox and reeve sandbox (${NO_SANDBOX ?? 'side by side'})`, () => {
  let home: ClientHome
  let reeve: SandboxCommandLine
  let outside: Outside
  const servers: Server[] = []
  const codex = PEER.codex()

  beforeAll(async () => {
    home = await clientHome('sandbox')
    reeve = await sandboxCommandLine()
    const socket = join(home.folder, 'socket')
    outside = { port: await listen(0), socket, pid: process.pid }
    await listen(socket)
    await mkdir(join(home.folder, 'codex'))
  })
  afterAll(async () => {
    for (const server of servers) server.close()
    await reeve[Symbol.asyncDispose]()
    await home[Symbol.asyncDispose]()
  })

  async function listen(at: number | string): Promise<number> {
    const server = createServer((socket) => socket.destroy())
    servers.push(server)
    await new Promise<void>((resolve) => {
      if (typeof at === 'number') server.listen(at, '127.0.0.1', resolve)
      else server.listen(at, resolve)
    })
    const address = server.address()
    return typeof address === 'object' && address !== null ? address.port : 0
  }

  it.each(PROFILES.map((row) => [row.name, row] as const))('%s', async (_name, row) => {
    const theirs = await answers({ command: codex.command, args: [...codex.args, 'sandbox'] }, row)
    const ours = await answers(reeve, row)
    const listed = LISTED.filter(({ profile }) => profile === row.name)
    const known = listed.flatMap(({ operations, codex, reeve }) =>
      operations.map((operation) => ({ operation, codex, reeve })),
    )
    expect(sorted(differences(theirs, ours))).toEqual(sorted(known))
  })

  it('says of everything that ours does beyond theirs that it is no weaker', () => {
    for (const { profile, codex, reeve, why } of LISTED) {
      const refuses = reeve === 'no' || reeve === 'not run'
      expect(why, `${profile}: ${codex}, ${reeve}`).toMatch(refuses ? /^ours refuses: / : /^as strict: /)
    }
  })

  it('lists no difference of a profile that is not tried', () => {
    const tried = PROFILES.map(({ name }) => name)
    expect(new Set(tried).size).toBe(tried.length)
    for (const { profile } of LISTED) expect(tried).toContain(profile)
  })

  /** Undefined: the command was not run. */
  async function answers(sandbox: Command, row: ProfileRow): Promise<ReadonlyMap<string, string> | undefined> {
    await using tree = await sandboxTree(home.folder)
    await row.prepare?.(tree)
    const state = { permissionProfile: row.profile(tree), sandboxCwd: pathToFileURL(tree.at('ws')).href }
    // What codex needs inside to start its own helper.
    const needed = [dirname(dirname(codex.command)), join(home.folder, 'codex')]
    const roots = needed.flatMap((folder) => ['--sandbox-state-readable-root', folder])
    const flags = (row.flags ?? []).map((flag) => (flag === 'other' ? tree.at('other') : flag))
    const options = ['--sandbox-state-json', JSON.stringify(state), ...roots, ...flags]
    const finished = await run(
      { command: sandbox.command, args: [...sandbox.args, ...options, '--', 'sh', '-c', probeScript(tree, outside)] },
      {
        cwd: home.folder,
        env: { ...home.env, CODEX_HOME: join(home.folder, 'codex'), TMPDIR: row.tmpdir ?? tree.at('tmp') },
      },
    )
    return readProbe(finished.stdout)
  }
})

function differences(
  theirs: ReadonlyMap<string, string> | undefined,
  ours: ReadonlyMap<string, string> | undefined,
): readonly Difference[] {
  if (theirs === undefined || ours === undefined) {
    if (theirs === ours) return []
    const ran = (answers: unknown) => (answers === undefined ? 'not run' : 'run')
    return [{ operation: '*', codex: ran(theirs), reeve: ran(ours) }]
  }
  const operations = [...new Set([...theirs.keys(), ...ours.keys()])]
  return operations
    .map((operation) => ({
      operation,
      codex: theirs.get(operation) ?? 'missing',
      reeve: ours.get(operation) ?? 'missing',
    }))
    .filter(({ codex, reeve }) => codex !== reeve)
}

function sorted(differences: readonly Difference[]): readonly Difference[] {
  return [...differences].sort((a, b) => (a.operation < b.operation ? -1 : 1))
}
