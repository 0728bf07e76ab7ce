// Tests that show something by themselves, as a table of what they say and what they came to.
import { table } from '../gateway/commands.mjs'
import { testResults } from '../gateway/test-runs.mjs'

/** @throws when a test failed or none ran */
export async function outcomes(title, file) {
  const results = await testResults(file)
  const rows = grouped(results).map(([what, ofIt]) => {
    const passed = ofIt.filter((result) => result.passed).length
    const ms = ofIt.reduce((sum, result) => sum + result.ms, 0)
    return [what, `${passed}/${ofIt.length}${passed < ofIt.length ? ' FAILED' : ''}`, ms.toFixed(0)]
  })
  console.log(table([[title, 'passed', 'ms'], ...rows]))
  const failed = results.filter((result) => !result.passed)
  for (const { group, title: name } of failed) console.log(`✗ ${group}: ${name}`)
  if (failed.length > 0 || results.length === 0) throw new Error(`${failed.length} of ${results.length} failed`)
}

/** What differs only in who speaks with whom, and over what, is one row. */
function grouped(results) {
  const rows = new Map()
  for (const result of results) {
    const group = result.group.replace(/(:|, before) .*$/, '')
    const what = `${group === '' ? '' : `${group}: `}${result.title.replace(/: (old|new) client .*$/, '')}`
    rows.set(what, [...(rows.get(what) ?? []), result])
  }
  return [...rows]
}
