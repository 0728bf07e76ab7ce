// Each profile of the differential run, and what differs: ours refuses, or codex fails by a bug.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { root, table } from '../gateway/commands.mjs'
import { testResults } from '../gateway/test-runs.mjs'

const TESTS = join('test', 'clients', 'sandbox-differential.test.ts')
const DIFFERENCES = join(root, 'test', 'clients', 'sandbox-differences.json')
const RANDOM = 'random: '
/** Operations of a difference that are named. */
const NAMED = 3

export async function sandboxes() {
  const results = await testResults(TESTS)
  const listed = JSON.parse(await readFile(DIFFERENCES, 'utf8'))
  const random = results.filter(({ title }) => title.startsWith(RANDOM))
  const rows = results
    .filter((result) => !random.includes(result))
    .map(({ title, passed }) => {
      const differing = listed.filter(({ profile }) => profile === title)
      return [escaped(title), passed ? 'yes' : 'FAILED', differing.map(differenceText).join('; ') || '–']
    })
  const right = random.filter(({ passed }) => passed).length
  rows.push(['profiles by chance', `${right}/${random.length}${right < random.length ? ' FAILED' : ''}`, '–'])
  console.log(table([['profile, or rule of the list', 'as listed', 'where they differ (Codex / Reeve)'], ...rows]))
  console.log('\nWhy they differ:\n')
  console.log(table([['profile', 'Codex', 'Reeve', 'why'], ...listed.map(reasonRow)]))
  const failed = results.filter(({ passed }) => !passed)
  for (const { title } of failed) console.log(`✗ ${title}`)
  if (failed.length > 0 || results.length === 0)
    throw new Error(`${failed.length} of ${results.length} failed, or could not be run on this machine`)
}

function differenceText({ operations, codex, reeve }) {
  if (operations.includes('*')) return `${codex} / ${reeve}`
  const more = operations.length > NAMED ? ` and ${operations.length - NAMED} more` : ''
  return escaped(`${operations.slice(0, NAMED).join(', ')}${more}: ${codex} / ${reeve}`)
}

function reasonRow({ profile, codex, reeve, why }) {
  return [profile === '*' ? 'any' : escaped(profile), codex, reeve, escaped(why)]
}

function escaped(text) {
  return text.replaceAll('|', '\\|')
}
