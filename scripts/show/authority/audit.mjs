// What the run of the approvals left behind, as the command line reads it.
import { join } from 'node:path'
import { cleanEnvironment, head, prompt, REEVE, succeed } from '../gateway/commands.mjs'

const ROWS = 20
/** Of that run, call by call: where, what was decided, and what became of it. */
const EXPECTED = [
  'local run tool_error',
  'local run tool_error',
  'box rejected refused',
  'local run tool_error',
  'box rejected refused',
  'local rejected refused',
]

export async function audit(folder) {
  const home = join(folder, 'home')
  const options = { cwd: folder, env: { ...cleanEnvironment(home), REEVE_HOME: home } }
  for (const filter of [[], ['--env', 'box', '--outcome', 'refused']]) {
    const command = [...REEVE, 'audit', ...filter]
    prompt(command)
    console.log(head(await succeed(command, options), ROWS, 180))
  }
  const lines = (await succeed([...REEVE, 'audit', '--json'], options)).trimEnd().split('\n')
  const records = lines.filter((line) => line !== '').map((line) => JSON.parse(line))
  const told = records.map(({ environment_id, decision, outcome }) => `${environment_id} ${decision} ${outcome}`)
  if (told.join('\n') !== EXPECTED.join('\n')) throw new Error(`recorded is: ${told.join('; ') || 'nothing'}`)
  if (records.some(({ authority }) => authority === null)) throw new Error('a call has no authority')
}
