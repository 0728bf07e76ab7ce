// Every real client, as its test ran it.
import { table } from './commands.mjs'
import { testResults } from './test-runs.mjs'

export async function clients() {
  const results = await testResults('--project', 'clients', '--project', 'loops')
  const rows = results.map(({ group, title, passed, ms }) => [
    [group, title].filter((part) => part !== '').join(' '),
    passed ? 'passed' : 'FAILED',
    ms.toFixed(0),
  ])
  console.log(table([['client', 'outcome', 'ms'], ...rows]))
  const failed = results.filter((result) => !result.passed)
  if (failed.length > 0 || results.length === 0) throw new Error(`${failed.length} of ${results.length} failed`)
}
