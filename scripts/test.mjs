// npm test: everything that must hold, from a fresh clone. Ends with `N passed, N failed` over all stages; a stage that is
// no test run (lint, build, …) counts as one. The agents' whole loops are `npm run test:clients`.
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { close, runStages } from './stages.mjs'
import { installSystemPackages } from './system-packages.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const node = process.execPath
const biome = join('node_modules', '@biomejs', 'biome', 'bin', 'biome')
const tsc = join('node_modules', 'typescript', 'bin', 'tsc')
const vitest = join('node_modules', 'vitest', 'vitest.mjs')

const SET_UP = ['set-up']
const BUILT = ['set-up', 'build']

await installSystemPackages([
  'chromium',
  'bubblewrap',
  'openssh-server',
  'openssh-client',
  'dbus-daemon',
  'gnome-keyring',
])
close(
  await runStages(
    [
      { name: 'set-up', command: [node, 'scripts/setup.mjs'], minutes: 8 },
      { name: 'lint', command: [node, biome, 'check', '.'], minutes: 2, needs: SET_UP },
      { name: 'types', command: [node, tsc, '--noEmit'], minutes: 3, needs: SET_UP },
      { name: 'rooms', command: [node, 'scripts/check-rooms.mjs'], minutes: 1 },
      { name: 'build', command: [node, 'scripts/build.mjs'], minutes: 3, needs: SET_UP },
      { name: 'package', command: [node, 'scripts/check-package.mjs'], minutes: 5, needs: BUILT },
      {
        name: 'peers',
        command: peers('inspector', 'mcporter', 'mcp-remote', 'codex', 'conformance'),
        minutes: 8,
        needs: SET_UP,
      },
      { name: 'unit', command: project('unit'), minutes: 8, needs: SET_UP, tests: true },
      { name: 'e2e', command: project('e2e'), minutes: 16, needs: BUILT, tests: true },
      { name: 'heavy', command: project('heavy'), minutes: 10, needs: BUILT, tests: true },
      {
        name: 'conformance',
        command: [node, 'scripts/conformance.mjs', '--no-build'],
        minutes: 8,
        needs: [...BUILT, 'peers'],
      },
      { name: 'clients', command: project('clients'), minutes: 10, needs: [...BUILT, 'peers'], tests: true },
    ].map((stage) => ({ cwd: root, ...stage })),
  ),
)

function peers(...names) {
  return [node, 'scripts/install-peers.mjs', ...names]
}

function project(name) {
  return [node, vitest, 'run', '--project', name]
}
