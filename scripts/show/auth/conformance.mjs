// The scenarios of auth of both requirement sets, and what failed in them.

import { run, table } from '../gateway/commands.mjs'
import { keep } from './left.mjs'

const LEGS = ['client-2025', 'client-2026']

export async function conformance(folder) {
  const command = [process.execPath, 'scripts/conformance.mjs', '--no-build', '--json', ...LEGS]
  const { stdout, stderr } = await run(command, { minutes: 15 })
  await keep(folder, 'conformance', stdout + stderr)
  const rows = []
  let failed = 0
  for (const report of parse(stdout, stderr)) {
    if (report.error !== undefined) throw new Error(`${report.name}: ${report.error}`)
    const own = report.scenarios.filter(({ name }) => name.startsWith('auth/') || name.includes('oauth'))
    const sum = (member) => own.reduce((total, scenario) => total + scenario[member], 0)
    rows.push([`${report.kind} ${report.revision}`, own.length, sum('passed'), sum('failed'), sum('warnings')])
    failed += sum('failed')
    if (own.length === 0) throw new Error(`${report.name} has no scenario of auth`)
    for (const { name, problems } of own)
      for (const { check, message } of problems) console.log(`✗ ${name}: ${check}: ${message}`)
  }
  console.log(table([['requirement set', 'scenarios of auth', 'checks passed', 'failed', 'warnings'], ...rows]))
  if (failed > 0) throw new Error(`${failed} checks failed`)
}

function parse(stdout, stderr) {
  try {
    return JSON.parse(stdout)
  } catch {
    throw new Error(`the suite gave no report\n${stderr || stdout}`)
  }
}
