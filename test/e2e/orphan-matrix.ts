import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { parseRecord } from '../../src/environments/journal.js'
import { reapOrphans } from '../../src/environments/orphans.js'
import { isRunning, pidsIn } from '../fixtures/stdio/fixture-processes.js'

/** How the owner of the servers ends. */
export const ENDINGS = ['stop', 'exit', 'throw', 'SIGINT', 'SIGTERM', 'SIGKILL'] as const
export type Ending = (typeof ENDINGS)[number]

/** Servers that ignore EOF and TERM, each with a grandchild. */
export const SERVERS = {
  'sh -c "F & wait"': (stubborn: string) => ({
    program: '/bin/sh',
    args: ['-c', `"${process.execPath}" "${stubborn}" & wait`],
  }),
  'F with a grandchild': (stubborn: string) => ({ program: process.execPath, args: [stubborn, '--grandchild'] }),
  'grandchild in a session of its own': (stubborn: string) => ({
    program: process.execPath,
    args: [stubborn, '--grandchild', '--detached'],
  }),
  'grandchild whose parent ends at EOF': (stubborn: string) => ({
    program: process.execPath,
    args: [stubborn, '--grandchild', '--leave'],
  }),
} as const
export type ServerKind = keyof typeof SERVERS

export interface OrphanRow {
  readonly ending: Ending
  readonly server: ServerKind
  /** Processes of the server that ran before. */
  readonly running: number
  /** Of these, still running when the owner was gone. */
  readonly left: number
  /** And after the next start. */
  readonly leftAfterStart: number
  /** Milliseconds from the request to end until the owner was gone. */
  readonly tookMs: number
}

/**
 * Ends an owner of stubborn servers in every way and counts what is left, on real processes.
 *
 * @param root the repository's folder, for callers that were bundled elsewhere
 */
export async function runOrphanMatrix(
  root: string = fileURLToPath(new URL('../..', import.meta.url)),
  endings: readonly Ending[] = ENDINGS,
  servers: readonly ServerKind[] = Object.keys(SERVERS) as ServerKind[],
): Promise<OrphanRow[]> {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-orphan-matrix-'))
  try {
    const driver = await bundleDriver(root, folder)
    const rows: OrphanRow[] = []
    for (const server of servers) {
      for (const ending of endings) rows.push(await runOne(root, driver, ending, server))
    }
    return rows
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The rows as a table of text. */
export function orphanTable(rows: readonly OrphanRow[]): string {
  const cells = rows.map((row) => [
    row.server,
    row.ending,
    String(row.running),
    String(row.left),
    String(row.leftAfterStart),
    `${Math.round(row.tookMs)} ms`,
  ])
  const all = [['server', 'ending of Reeve', 'ran', 'left', 'left after next start', 'took'], ...cells]
  const widths = (all[0] ?? []).map((_, column) => Math.max(...all.map((line) => (line[column] ?? '').length)))
  return all
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

async function bundleDriver(root: string, folder: string): Promise<string> {
  const outfile = join(folder, 'orphan-driver.mjs')
  await build({
    entryPoints: [join(root, 'test/e2e/orphan-driver.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    // cross-spawn is CommonJS and asks for built-in modules by `require`.
    banner: { js: "import { createRequire } from 'node:module'\nconst require = createRequire(import.meta.url)" },
    logLevel: 'warning',
  })
  return outfile
}

async function runOne(root: string, driver: string, ending: Ending, server: ServerKind): Promise<OrphanRow> {
  const home = await mkdtemp(join(tmpdir(), 'reeve-orphan-home-'))
  const command = SERVERS[server](join(root, 'test/fixtures/stdio/stubborn.mjs'))
  const owner = spawn(process.execPath, [driver, home, JSON.stringify(command)], { stdio: ['pipe', 'inherit', 'pipe'] })
  let pids: readonly number[] = []
  try {
    const told = await stubbornPids(owner, server === 'sh -c "F & wait"' ? 1 : 2)
    const leader = await journalled(home, command.args.includes('--detached') ? told.slice(0, 1) : told)
    pids = [...new Set([leader, ...told])]
    const running = pids.filter(isRunning).length
    const began = performance.now()
    const gone = once(owner, 'exit')
    if (ending.startsWith('SIG')) owner.kill(ending as NodeJS.Signals)
    else owner.stdin.write(ending)
    await gone
    const tookMs = performance.now() - began
    const left = ending === 'SIGKILL' ? pids.filter(isRunning).length : await settled(pids)
    await reapOrphans(home, { termGraceMs: 300 })
    return { ending, server, running, left, leftAfterStart: pids.filter(isRunning).length, tookMs }
  } finally {
    for (const pid of pids.filter(isRunning)) process.kill(pid, 'SIGKILL')
    if (owner.exitCode === null && owner.signalCode === null) owner.kill('SIGKILL')
    await rm(home, { recursive: true, force: true })
  }
}

/** What still runs once a KILL has had the time to take effect: the owner's exit does not wait for that. */
async function settled(pids: readonly number[]): Promise<number> {
  for (const end = performance.now() + 2000; performance.now() < end && pids.some(isRunning); ) await pause(10)
  return pids.filter(isRunning).length
}

/** Waits for the `pids` lines of everyone in the server's tree: then they all ignore signals. */
async function stubbornPids(owner: ChildProcess, lines: number): Promise<readonly number[]> {
  let text = ''
  for await (const chunk of owner.stderr ?? []) {
    text += chunk
    if ((text.match(/^pids .+$/gm)?.length ?? 0) >= lines) break
  }
  owner.stderr?.resume()
  return [...new Set(pidsIn(text))]
}

/** Waits until the journal names these processes, as leader or members of its session; returns the leader. */
async function journalled(home: string, pids: readonly number[]): Promise<number> {
  for (const end = performance.now() + 10_000; performance.now() < end; await pause(20)) {
    const names = (await readdir(join(home, 'run')).catch(() => [])).filter((name) => name.endsWith('.json'))
    for (const name of names) {
      const record = parseRecord(await readFile(join(home, 'run', name), 'utf8').catch(() => ''))
      const named = record === undefined ? [] : [record.leader, ...record.members].map(({ pid }) => pid)
      if (record !== undefined && pids.every((pid) => named.includes(pid))) return record.leader.pid
    }
  }
  throw new Error('the journal does not name the tree')
}
