// npm run bench: the overhead of a gateway, side by side in one run; `npm run bench -- executor` and `-- audit` are other
// comparisons.
// `--help` lists the options; README.md has figures.
import { installPeers } from '../scripts/install-peers.mjs'
import { setUp } from '../scripts/setup.mjs'
import { takeTurn } from './measure.mjs'
import { readOptions } from './options.mjs'
import { markdown, summarise } from './report.mjs'
import { SYSTEM_NAMES, systemOf } from './systems.mjs'

const [which, ...rest] = process.argv.slice(2)
if (which === 'executor') await (await import('./executor.mjs')).runExecutorBench(rest)
else if (which === 'audit') await (await import('./audit.mjs')).runAuditBench(rest)
else await runGatewayBench(process.argv.slice(2))

async function runGatewayBench(args) {
  const options = readOptions(args)
  const systems = SYSTEM_NAMES.filter((name, index) => index === 0 || options.only.includes(name)).map(systemOf)
  await setUp({ demo: false })
  await installPeers(systems.flatMap(({ peer }) => peer ?? []))
  const rounds = []
  for (let round = 1; round <= options.rounds; round += 1) rounds.push(await takeRound(round, systems, options))
  const summary = summarise(systems, rounds, options)
  console.log(options.json ? JSON.stringify(summary, null, 2) : markdown(summary))
}

/** Every system has one turn a round, and each round begins with another, so that a busy minute hits all alike. */
async function takeRound(round, systems, options) {
  const figures = new Map()
  const shift = (round - 1) % systems.length
  for (const system of [...systems.slice(shift), ...systems.slice(0, shift)]) {
    const figure = await takeTurn(system, options.calls)
    figures.set(system.name, figure)
    const shown = `p50 ${figure.p50.toFixed(2)} ms, ${figure.perSecond64.toFixed(0)} calls/s at 64`
    console.error(`round ${round}/${options.rounds}  ${system.title}: ${shown}`)
  }
  return figures
}
