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
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      only: { type: 'string', default: SYSTEM_NAMES.join(',') },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    console.log(USAGE)
    process.exit(0)
  }
  const only = values.only.split(',')
  const unknown = only.filter((name) => !SYSTEM_NAMES.includes(name))
  const rounds = Number(values.rounds ?? (values.quick ? 3 : 7))
  if (unknown.length > 0 || !Number.isInteger(rounds) || rounds < 1) {
    console.error(USAGE)
    process.exit(2)
  }
  const calls = values.quick ? { warmUp: 100, alone: 300, together: 600 } : { warmUp: 300, alone: 1500, together: 3000 }
  return { json: values.json, quick: values.quick, rounds, only, calls }
}
