// The golden cases, file by file: how many there are, and how many tests of each passed.
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { root, table } from './commands.mjs'
import { testResults } from './test-runs.mjs'

const folder = join(root, 'test', 'vectors')

/** `isShown`: by the name of a file of tests. Default: all of them. */
export async function vectors(isShown = () => true) {
  const names = readdirSync(folder)
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => name.slice(0, -'.test.ts'.length))
    .filter(isShown)
  const results = await testResults(...names.map((name) => `test/vectors/${name}.test.ts`))
  const rows = names.map((name) => {
    const ours = results.filter(({ file }) => basename(file) === `${name}.test.ts`)
    const passed = ours.filter((result) => result.passed).length
    return [name, casesOf(name), passed, ours.length - passed]
  })
  console.log(table([['test/vectors', 'cases in the file', 'tests passed', 'tests failed'], ...rows]))
  const failed = results.filter((result) => !result.passed).length
  if (results.length === 0) throw new Error('no test ran')
  if (failed > 0) throw new Error(`${failed} tests failed`)
}

function casesOf(name) {
  try {
    return JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8')).cases.length
  } catch (error) {
    if (error.code === 'ENOENT') return '–'
    throw error
  }
}
