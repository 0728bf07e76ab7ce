// The four totals, and whatever failed that nobody expected.
import { isGreen, lines } from '../../../test/conformance/report.mjs'
import { run } from '../gateway/commands.mjs'

export async function conformance() {
  const command = [process.execPath, 'scripts/conformance.mjs', '--no-build', '--json']
  const { stdout, stderr } = await run(command, { minutes: 15 })
  const reports = parse(stdout, stderr)
  for (const report of reports) {
    for (const line of report.error === undefined ? lines(report) : [`${report.name}: ${report.error}`])
      console.log(line)
  }
  const bad = reports.filter((report) => report.error !== undefined || !isGreen(report))
  if (bad.length > 0) throw new Error(bad.map(({ name }) => name).join(', '))
}

function parse(stdout, stderr) {
  try {
    return JSON.parse(stdout)
  } catch {
    throw new Error(`the suite gave no report\n${stderr || stdout}`)
  }
}
