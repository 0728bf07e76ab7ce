// The runs of the suite, by the names that the command line knows.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { judge, totals } from './judge.mjs'
import { startFullServer, startGateway } from './subjects.mjs'
import { ROOT, readChecks, readYaml, requirementsOf, runSuite } from './suite.mjs'

const LIMIT_MS = 180_000
const DRIVER = join(ROOT, 'test/conformance/client-driver.mjs')
const REVISIONS = { 2025: '2025-11-25', 2026: '2026-07-28' }

/** `server`: through the gateway. `client`: the library. `direct`: the full-feature servers without either. */
const KINDS = {
  server: { side: 'server', start: startGateway },
  client: { side: 'client' },
  direct: { side: 'server', start: startFullServer },
}

/** Name → what it runs, e.g. `server-2025`. */
export const LEGS = new Map(
  Object.keys(KINDS).flatMap((kind) =>
    Object.keys(REVISIONS).map((era) => [`${kind}-${era}`, { name: `${kind}-${era}`, kind, era }]),
  ),
)

/**
 * Runs one leg.
 *
 * @param {{ name: string, kind: string, era: string }} leg
 * @param {{ upstream: 'http' | 'stdio' }} options
 * @returns a report: the totals, each scenario, and the expected failures that are stale
 * @throws when what is tested did not start, or the suite did not end
 */
export async function runLeg({ name, kind, era }, { upstream }) {
  const revision = REVISIONS[era]
  const { side, start } = KINDS[kind]
  const required = await requirementsOf(revision, side)
  const expected = await readYaml(join(ROOT, `test/conformance/expected-${name}.yml`))
  const results = await mkdtemp(join(tmpdir(), 'reeve-conformance-results-'))
  try {
    if (start === undefined) await testClient(revision, results)
    else await testServer(await start(era, upstream), revision, results)
    const { scenarios, stale } = judge(required, await readChecks(results, side), expected[side] ?? [])
    return { name, kind, revision, ...totals(scenarios), scenarios, stale }
  } finally {
    await rm(results, { recursive: true, force: true })
  }
}

function testClient(revision, results) {
  const args = ['--command', `${process.execPath} ${DRIVER}`]
  return runSuite('client', { revision, results, args, limitMs: LIMIT_MS })
}

async function testServer({ url, stop }, revision, results) {
  try {
    await runSuite('server', { revision, results, args: ['--url', url], limitMs: LIMIT_MS })
  } finally {
    await stop()
  }
}
