// Every way to end Reeve × servers that ignore EOF and TERM and have a grandchild: how many processes are left.
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { root } from './commands.mjs'

export async function orphans() {
  const folder = await mkdtemp(join(root, '.cache', 'orphans-'))
  try {
    const { runOrphanMatrix, orphanTable } = await matrix(folder)
    const rows = await runOrphanMatrix(root)
    console.log(orphanTable(rows))
    const bad = rows.filter(
      ({ ending, left, leftAfterStart }) => leftAfterStart > 0 || (ending !== 'SIGKILL' && left > 0),
    )
    if (bad.length > 0 || rows.length === 0) throw new Error(`${bad.length} of ${rows.length} left something behind`)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The matrix of the end-to-end tests, as a module that Node runs. */
async function matrix(folder) {
  const outfile = join(folder, 'orphan-matrix.mjs')
  await build({
    absWorkingDir: root,
    entryPoints: ['test/e2e/orphan-matrix.ts'],
    outfile,
    bundle: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    logLevel: 'silent',
  })
  return await import(pathToFileURL(outfile).href)
}
