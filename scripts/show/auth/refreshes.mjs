// Counts of the multi-process test: with all processes alive, and with the one that refreshes killed at each expiry.
import { join } from 'node:path'
import { cleanEnvironment, root, run, table } from '../gateway/commands.mjs'
import { keep } from './left.mjs'

const TEST = 'test/heavy/oauth-refresh.test.ts'

export async function refreshes(folder) {
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  const env = { ...cleanEnvironment(folder), REEVE_SHOW_COUNTS: '1' }
  const { code, stdout, stderr } = await run([process.execPath, vitest, 'run', TEST], { env, minutes: 15 })
  await keep(folder, 'refreshes', stdout + stderr)
  const counted = stdout.split('\n').flatMap((line) => (line.startsWith('{"place"') ? [JSON.parse(line)] : []))
  const rows = counted.map(({ place, holder, refreshes, reuses, refused, failures, killed }) => [
    place,
    holder,
    refreshes,
    reuses,
    refused,
    failures.length,
    killed,
  ])
  console.log(
    table([['kept in', 'whoever refreshes', 'refreshes', 'reuses', 'refused', 'failures', 'killed'], ...rows]),
  )
  if (code !== 0 || rows.length === 0) throw new Error(`the test ended with ${code}\n${stderr || stdout}`)
  if (counted.length < 4) console.log('\nThere is no keychain on this machine: it was tried with a file alone.')
}
