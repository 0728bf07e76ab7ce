import { parseArgs } from 'node:util'
import { SYSTEM_NAMES } from './systems.mjs'

const USAGE = `npm run bench -- [--quick] [--json] [--rounds N] [--only NAME,NAME]
  --quick        fewer calls and rounds: shapes, not figures
  --json         the result as JSON on stdout instead of a table
  --rounds N     how often each system has its turn (7, quick: 3)
  --only A,B     of: ${SYSTEM_NAMES.join(', ')}; the first system is always measured, as the ratios refer to it
npm run bench -- executor [--help]: what an executor adds to one MCP call`

/** @returns {{ json: boolean, quick: boolean, rounds: number, only: readonly string[], calls: object }} */
export function readOptions(args) {
  const options = readTurns(args, { usage: USAGE, names: SYSTEM_NAMES })
  const calls = options.quick
    ? { warmUp: 100, alone: 300, together: 600 }
    : { warmUp: 300, alone: 1500, together: 3000 }
  return { ...options, calls }
}

/**
 * What every benchmark is asked: which of `names` have how many turns. Ends the process with its `usage` for `--help`
 * (code 0), and for what it can't make sense of (code 2).
 *
 * @param {readonly string[]} args
 * @param {{ usage: string, names: readonly string[] }} bench
 * @returns {{ json: boolean, quick: boolean, rounds: number, only: readonly string[] }}
 */
export function readTurns(args, { usage, names }) {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      only: { type: 'string', default: names.join(',') },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    console.log(usage)
    process.exit(0)
  }
  const only = values.only.split(',')
  const rounds = Number(values.rounds ?? (values.quick ? 3 : 7))
  if (only.some((name) => !names.includes(name)) || !Number.isInteger(rounds) || rounds < 1) {
    console.error(usage)
    process.exit(2)
  }
  return { json: values.json, quick: values.quick, rounds, only }
}
