// Runs vitest and gives what each test came to.
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root, run } from './commands.mjs'

/** @returns {Promise<{ file: string, group: string, title: string, passed: boolean, ms: number }[]>} */
export async function testResults(...filters) {
  const folder = await mkdtemp(join(tmpdir(), 'reeve-show-'))
  const file = join(folder, 'results.json')
  try {
    const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
    const command = [process.execPath, vitest, 'run', '--reporter=json', `--outputFile=${file}`, ...filters]
    const { stderr } = await run(command, { minutes: 10 })
    const text = await readFile(file, 'utf8').catch(() => {
      throw new Error(`vitest wrote no results\n${stderr}`)
    })
    return JSON.parse(text).testResults.flatMap(({ name, assertionResults }) =>
      assertionResults.map(({ ancestorTitles, title, status, duration }) => ({
        file: name,
        group: ancestorTitles.join(' '),
        title,
        passed: status === 'passed',
        ms: duration ?? 0,
      })),
    )
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
