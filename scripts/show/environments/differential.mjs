// Every scenario of the differential run, and what differs on purpose.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { root, table } from '../gateway/commands.mjs'
import { testResults } from '../gateway/test-runs.mjs'

const FOLDER = join('test', 'clients', 'differential')
const WIDTH = 60

export async function differential() {
  const results = await testResults(join(FOLDER, 'environments.loop.test.ts'))
  const differences = JSON.parse(await readFile(join(root, FOLDER, 'differences.json'), 'utf8'))
  const groups = [...new Set(results.map(({ group }) => group))]
  const rows = groups.map((group) => {
    const ofIt = results.filter((result) => result.group === group)
    const passed = ofIt.filter((result) => result.passed).length
    const differing = differences.filter(({ scenario }) => group.endsWith(` ${scenario}`)).length
    return [group, ofIt.length, `${passed}/${ofIt.length}${passed < ofIt.length ? ' FAILED' : ''}`, differing]
  })
  console.log(table([['scenario', 'questions', 'as they must be', 'differ on purpose'], ...rows]))
  console.log('\nOn purpose, by the row of the known quirks:\n')
  console.log(table([['row', 'scenario', 'question', 'Codex', 'Reeve'], ...differences.map(differenceRow)]))
  const failed = results.filter((result) => !result.passed)
  for (const { group, title } of failed) console.log(`✗ ${group}: ${title}`)
  if (failed.length > 0 || results.length === 0) throw new Error(`${failed.length} of ${results.length} failed`)
}

function differenceRow({ row, scenario, question, why, codex, ours }) {
  return [`${row ?? 'none'}: ${why}`, scenario, question, short(codex), short(ours)]
}

function short(answer) {
  const text = (typeof answer === 'string' ? answer : JSON.stringify(answer)).replaceAll('|', '\\|')
  return text.length > WIDTH ? `${text.slice(0, WIDTH - 1)}…` : text
}
