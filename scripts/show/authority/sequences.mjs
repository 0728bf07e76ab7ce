// Random calls, answers, changes, restarts and revocations, on real threads and servers, against a model of the rules.
// REEVE_APPROVAL_SEQUENCES says how many sequences; ten thousand take some minutes.
import { join } from 'node:path'
import { cleanEnvironment, root, succeed, table } from '../gateway/commands.mjs'

const SEQUENCES = process.env.REEVE_APPROVAL_SEQUENCES ?? '1000'
const TEST = 'test/e2e/library/approvals-model.test.ts'

export async function sequences(folder) {
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  const env = { ...cleanEnvironment(folder), REEVE_APPROVAL_SEQUENCES: SEQUENCES }
  const output = await succeed([process.execPath, vitest, 'run', TEST], { env, minutes: 30 })
  const line = output.split('\n').find((one) => one.startsWith('{"sequences"'))
  if (line === undefined) throw new Error(`nothing was counted\n${output}`)
  console.log(table([['event', 'times'], ...Object.entries(JSON.parse(line))]))
  console.log('No call ran without a matching decision, and every one ran that had one.')
}
