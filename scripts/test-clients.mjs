// npm run test:clients: real agents run whole loops through the gateway, on model stand-ins of this machine. Over 1 GB of
// clients is installed into .cache for it.
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { close, runStages } from './stages.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const node = process.execPath
const vitest = join('node_modules', 'vitest', 'vitest.mjs')
const CLIENTS = ['codex', 'claude-code', 'gemini-cli', 'opencode']

close(
  await runStages(
    [
      { name: 'set-up', command: [node, 'scripts/setup.mjs'], minutes: 8 },
      { name: 'peers', command: [node, 'scripts/install-peers.mjs', ...CLIENTS], minutes: 12, needs: ['set-up'] },
      {
        name: 'loops',
        command: [node, vitest, 'run', '--project', 'loops'],
        minutes: 8,
        needs: ['set-up', 'peers'],
        tests: true,
      },
    ].map((stage) => ({ cwd: root, ...stage })),
  ),
)
