// Ten clients at once and what they cost in processes; and what a call costs with the broker warm and cold.
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { root, succeed } from '../gateway/commands.mjs'

const TABLE = 'test/e2e/broker-table.ts'

export async function broker() {
  console.log(await tenClients())
  console.log()
  console.log((await succeed([process.execPath, join('bench', 'broker-call.mjs')], { minutes: 8 })).trimEnd())
}

/** The table of the end-to-end tests, as a module that Node runs. */
async function tenClients() {
  if (!existsSync(join(root, TABLE))) throw new Error(`${TABLE} is not there`)
  const folder = await mkdtemp(join(root, '.cache', 'broker-table-'))
  try {
    const outfile = join(folder, 'broker-table.mjs')
    await build({
      absWorkingDir: root,
      entryPoints: [TABLE],
      outfile,
      bundle: true,
      packages: 'external',
      format: 'esm',
      platform: 'node',
      logLevel: 'silent',
    })
    const { brokerTable, runBrokerTable } = await import(pathToFileURL(outfile).href)
    return brokerTable(await runBrokerTable(root))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
