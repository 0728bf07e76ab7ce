// Policies by chance on their way to real servers, and what each way to a server tells it.
import { join } from 'node:path'
import { table } from '../gateway/commands.mjs'
import { testResults } from '../gateway/test-runs.mjs'

const TESTS = [join('test', 'e2e', 'library', 'sandbox-bytes.test.ts'), join('test', 'e2e', 'permission-paths.test.ts')]
/** Each goes to three servers: more than 10^5 states. */
const POLICIES = 34_000

export async function states() {
  process.env.REEVE_SANDBOX_STATES ??= String(POLICIES)
  const results = await testResults(...TESTS)
  const rows = results.map(({ group, title, passed, ms }) => [
    group || 'a thread of the library',
    title,
    passed ? 'yes' : 'FAILED',
    `${(ms / 1000).toFixed(1)} s`,
  ])
  console.log(table([['way', 'what its servers are told', 'as said', 'took'], ...rows]))
  const failed = results.filter(({ passed }) => !passed)
  if (failed.length > 0 || results.length === 0) throw new Error(`${failed.length} of ${results.length} failed`)
}
