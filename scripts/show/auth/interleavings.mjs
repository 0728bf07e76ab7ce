// Random logins, logouts, refreshes, reloads, host updates and calls of six threads, against a model of what is in force.
// REEVE_AUTH_INTERLEAVINGS says how many; ten thousand take half an hour.
import { join } from 'node:path'
import { cleanEnvironment, root, run, table } from '../gateway/commands.mjs'
import { keep } from './left.mjs'

const COUNT = process.env.REEVE_AUTH_INTERLEAVINGS ?? '300'
const SEED = process.env.REEVE_AUTH_SEED
const TEST = 'test/e2e/auth-interleavings.test.ts'

export async function interleavings(folder) {
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  const env = {
    ...cleanEnvironment(folder),
    REEVE_AUTH_INTERLEAVINGS: COUNT,
    ...(SEED !== undefined && { REEVE_AUTH_SEED: SEED }),
  }
  const { code, stdout, stderr } = await run([process.execPath, vitest, 'run', TEST], { env, minutes: 60 })
  await keep(folder, 'interleavings', stdout + stderr)
  const line = stdout.split('\n').find((one) => one.includes('{"interleavings"'))
  if (code !== 0 || line === undefined) throw new Error(`the test ended with ${code}\n${stdout}\n${stderr}`)
  const counts = JSON.parse(line.slice(line.indexOf('{')))
  console.log(table([['what', 'times'], ...Object.entries(counts)]))
  console.log(
    '\nNo request left with the credential of another account or mode, a stale assertion, or one that was revoked.',
  )
}
