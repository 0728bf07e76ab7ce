// Every scenario of the comparison in each mode, and what differs on purpose.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { root, table } from '../gateway/commands.mjs'
import { testResults } from '../gateway/test-runs.mjs'

const FOLDER = join('test', 'clients', 'first-party')
const MODES = ['off', 'dual_header', 'assertion_only']
const WIDTH = 110

export async function differential() {
  const results = await testResults(join(FOLDER, 'first-party.loop.test.ts'))
  const differences = JSON.parse(await readFile(join(root, FOLDER, 'differences.json'), 'utf8'))
  const compared = results.filter(({ group }) => MODES.some((mode) => group.endsWith(` ${mode}`)))
  const groups = [...new Set(compared.map(({ group }) => group))]
  const rows = groups.map((group) => {
    const ofIt = compared.filter((result) => result.group === group)
    const mode = MODES.find((one) => group.endsWith(` ${one}`))
    const scenario = group.slice(0, -mode.length).replaceAll("'", '').trim()
    const listed = differences.filter((one) => one.scenario === scenario && one.modes.includes(mode)).length
    return [scenario, mode, ofIt.every(({ passed }) => passed) ? 'yes' : 'FAILED', listed]
  })
  console.log(table([['scenario', 'mode', 'the same but for what is listed', 'listed'], ...rows]))
  console.log('\nWhat differs on purpose (only what one of them does and the other does not):\n')
  console.log(table([['where', 'modes', 'Codex', 'Reeve', 'because'], ...differences.map(differenceRow)]))
  const failed = results.filter(({ passed }) => !passed)
  for (const { group, title } of failed) console.log(`✗ ${group}: ${title}`)
  if (failed.length > 0 || compared.length === 0) throw new Error(`${failed.length} of ${results.length} failed`)
}

function differenceRow({ scenario, question, modes, section, why, codex, ours }) {
  const where = modes.length === MODES.length ? 'all' : modes.join(', ')
  return [`${scenario}: ${question}`, where, short(codex), short(ours), `${why} (${section})`]
}

function short(answer) {
  const lines = Array.isArray(answer) ? answer.join(' / ') : (answer ?? '')
  const text = String(lines).replaceAll('|', '\\|').replaceAll('\n', ' ') || '–'
  return text.length > WIDTH ? `${text.slice(0, WIDTH - 1)}…` : text
}
