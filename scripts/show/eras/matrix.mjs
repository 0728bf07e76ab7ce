// The cross matrix: a row a feature, a column a pair of eras, in each how many of the four ways over stdio and HTTP came out.
import { table } from '../gateway/commands.mjs'
import { testResults } from '../gateway/test-runs.mjs'

const PAIRS = ['old → old', 'old → new', 'new → old', 'new → new']
const GROUP = /^(old|new) client over (stdio|http), (old|new) server over (stdio|http)$/
const REFUSED = ', refused'

export async function matrix() {
  const cells = (await testResults('test/e2e/matrix/matrix.test.ts')).flatMap(cellOf)
  const features = [...new Set(cells.map(({ feature }) => feature))]
  const rows = features.map((feature) => [
    feature,
    ...PAIRS.map((pair) => summary(cells.filter((cell) => cell.feature === feature && cell.pair === pair))),
  ])
  console.log(table([['feature', ...PAIRS.map((pair) => `${pair.replace(' → ', ' client → ')} server`)], ...rows]))
  const count = (wanted) => cells.filter(wanted).length
  const failed = count(({ passed }) => !passed)
  const refused = count((cell) => cell.passed && cell.refused)
  console.log(
    `\n${cells.length} cells: ${cells.length - failed - refused} green, ${refused} refused as they must be, ${failed} failed`,
  )
  if (failed > 0 || cells.length === 0) throw new Error(`${failed} of ${cells.length} cells failed`)
}

function cellOf({ group, title, passed }) {
  const [, client, , server] = GROUP.exec(group) ?? []
  if (client === undefined) return []
  const refused = title.endsWith(REFUSED)
  return [
    { pair: `${client} → ${server}`, feature: refused ? title.slice(0, -REFUSED.length) : title, refused, passed },
  ]
}

function summary(cells) {
  if (cells.length === 0) return '–'
  const passed = cells.filter((cell) => cell.passed).length
  const marks = [`${passed}/${cells.length}`, ...(cells.every(({ refused }) => refused) ? ['refused'] : [])]
  return (passed === cells.length ? marks : [...marks, 'FAILED']).join(' ')
}
