// npm run conformance [LEG…]: the official conformance suite against the gateway (server) and the library (client), in both
// eras of the protocol; `direct-*` runs it against the test servers themselves. Prints one line a leg and what failed there
// unexpectedly. What is expected to fail stands in test/conformance/expected-LEG.yml, and must.
import { parseArgs } from 'node:util'
import { LEGS, runLeg } from '../test/conformance/legs.mjs'
import { isGreen, lines } from '../test/conformance/report.mjs'
import { installPeers } from './install-peers.mjs'
import { StepFailedError } from './run-step.mjs'
import { setUp } from './setup.mjs'

const DEFAULT = ['server-2025', 'server-2026', 'client-2025', 'client-2026']
const USAGE = `usage: npm run conformance [-- [--json] [--no-build] [--upstream http|stdio] LEG…]
legs: ${[...LEGS.keys()].join(', ')}; a kind alone means both eras. Without any: ${DEFAULT.join(', ')}`

const options = readOptions()
try {
  if (options.build) await setUp({ demo: false })
  await installPeers(['conformance'])
  process.exitCode = (await run(options)) ? 0 : 1
} catch (error) {
  if (!(error instanceof StepFailedError)) throw error
  console.error(error.message)
  process.exitCode = 1
}

/** One after the other: the suite's timing checks want the machine for themselves. */
async function run({ names, json, upstream }) {
  const reports = []
  for (const name of names) {
    const report = await runLeg(LEGS.get(name), { upstream }).catch((error) => ({ name, error: error.message }))
    reports.push(report)
    if (json) continue
    for (const line of report.error === undefined ? lines(report) : [`${name}: ${report.error}`]) console.log(line)
  }
  if (json) console.log(JSON.stringify(reports, null, 2))
  return reports.every((report) => report.error === undefined && isGreen(report))
}

function readOptions() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        json: { type: 'boolean', default: false },
        'no-build': { type: 'boolean', default: false },
        upstream: { type: 'string', default: 'http' },
      },
    })
    if (!['http', 'stdio'].includes(values.upstream)) throw new Error(`no upstream '${values.upstream}'`)
    const names = (positionals.length === 0 ? DEFAULT : positionals).flatMap(legsOf)
    return { json: values.json, build: !values['no-build'], upstream: values.upstream, names }
  } catch (error) {
    console.error(`${error.message}\n${USAGE}`)
    process.exit(2)
  }
}

function legsOf(name) {
  const legs = [...LEGS.values()].filter((leg) => leg.name === name || leg.kind === name)
  if (legs.length === 0) throw new Error(`no leg '${name}'`)
  return legs.map((leg) => leg.name)
}
