// Makes a fresh clone ready to run: dependencies, build, the demo servers. Needs nothing but Node and npm; does nothing twice.
//   node scripts/setup.mjs [--no-demo]
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runStep, StepFailedError } from './run-step.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const NEEDED_NODE = [20, 19]

/** Everything that `npm start` and `npm test` build on. `demo`: also the servers of the embedded default. */
export async function setUp({ demo = true, say = (line) => console.error(line) } = {}) {
  checkNode()
  await install({ folder: root, name: 'dependencies', mend: 'npm ci', say })
  // Not before: the build uses what was just installed.
  const { build } = await import('./build.mjs')
  await build({ say })
  if (demo) await install({ folder: join(root, 'demo'), name: 'demo servers', mend: 'npm ci --prefix demo', say })
}

function checkNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major > NEEDED_NODE[0] || (major === NEEDED_NODE[0] && minor >= NEEDED_NODE[1])) return
  throw new StepFailedError(
    `Reeve needs Node ${NEEDED_NODE.join('.')} or newer; this is ${process.version}`,
    '',
    'nvm install 22',
  )
}

async function install({ folder, name, mend, say }) {
  const missing = missingPackages(folder)
  if (missing.length === 0) return
  say(`installing the ${name} (npm ci) …`)
  const started = Date.now()
  await runStep(`installing the ${name}`, ['npm', 'ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: folder,
    mend,
  })
  const left = missingPackages(folder)
  if (left.length > 0) throw new StepFailedError(`npm ci left out ${left.slice(0, 5).join(', ')}`, '', mend)
  say(`installed the ${name} in ${((Date.now() - started) / 1000).toFixed(1)} s`)
}

/**
 * The packages of the lock file that are not there in that very version, by npm's own record of what it installed. So a
 * changed lock file is seen, and an installation that somebody made by hand counts.
 */
function missingPackages(folder) {
  const wanted = packagesOf(join(folder, 'package-lock.json'))
  const record = join(folder, 'node_modules', '.package-lock.json')
  const there = existsSync(record) ? packagesOf(record) : {}
  return Object.entries(wanted)
    .filter(([path, entry]) => path !== '' && !entry.optional && there[path]?.version !== entry.version)
    .map(([path]) => path)
}

function packagesOf(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    await setUp({ demo: !process.argv.includes('--no-demo') })
    console.error('ready: npm start')
  } catch (error) {
    if (!(error instanceof StepFailedError)) throw error
    console.error(error.message)
    process.exit(1)
  }
}
