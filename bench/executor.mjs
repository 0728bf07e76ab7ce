// npm run bench -- executor: what an executor adds to one MCP call. `--help` lists the options; README.md has figures.
import { installPeers } from '../scripts/install-peers.mjs'
import { setUp } from '../scripts/setup.mjs'
import { EXECUTOR_NAMES, latencyMarkdown, MOST_TIMES, measureExecutorLatency } from './executor-latency.mjs'
import { readTurns } from './options.mjs'

const USAGE = `npm run bench -- executor [--quick] [--json] [--rounds N] [--only NAME,NAME]
  --quick        fewer calls and rounds: shapes, not figures
  --json         the result as JSON on stdout instead of tables
  --rounds N     how often each path has its turn (7, quick: 3)
  --only A,B     of: ${EXECUTOR_NAMES.join(', ')}
Ends with 1 when a WebSocket takes more than ${MOST_TIMES} times as long as the stdio of the same executor.`

/** @param {readonly string[]} args */
export async function runExecutorBench(args) {
  const options = readOptions(args)
  await setUp({ demo: false })
  if (options.only.includes('codex')) await installPeers(['codex'])
  const summary = await measureExecutorLatency({
    ...options,
    onTurn: (round, title, { p50 }) =>
      console.error(`round ${round}/${options.rounds}  ${title}: p50 ${p50.toFixed(2)} ms`),
  })
  console.log(options.json ? JSON.stringify(summary, null, 2) : latencyMarkdown(summary))
  if (summary.ratios.some(({ reached }) => !reached)) process.exitCode = 1
}

function readOptions(args) {
  const { quick, ...options } = readTurns(args, { usage: USAGE, names: EXECUTOR_NAMES })
  const calls = quick ? { warmUp: 200, alone: 300, slow: 20 } : { warmUp: 500, alone: 1000, slow: 60 }
  return { ...options, calls }
}
