// npm start: sets up what is missing, then serves your configuration, or the demo servers, in two environments, when you have none.
//   npm start -- --http 127.0.0.1:0        everything behind `--` goes to `reeve serve`
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { writeEmbeddedDefault } from './embedded-default.mjs'
import { StepFailedError } from './run-step.mjs'
import { setUp } from './setup.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const args = process.argv.slice(2)
const home = homeOf(args)
const ownConfiguration = optionValue('--config', args) !== undefined || existsSync(join(home, 'config.toml'))

try {
  await setUp({ demo: !ownConfiguration })
  const reeve = join(root, 'dist', 'cli', 'reeve.js')
  const demo = join(root, 'demo')
  const config = ownConfiguration ? [] : ['--config', writeEmbeddedDefault({ home, demo, reeve })]
  if (!ownConfiguration)
    console.error(`no configuration in ${home}: serving the demo servers, here and in a second environment`)
  // The command line takes over this process: one process less, and Ctrl-C reaches it directly.
  process.argv = [process.execPath, reeve, 'serve', ...config, ...args]
  await import('../dist/cli/reeve.js')
} catch (error) {
  if (!(error instanceof StepFailedError)) throw error
  console.error(error.message)
  process.exit(1)
}

/** As the command line finds it. */
function homeOf(given) {
  const named = optionValue('--home', given) || process.env.REEVE_HOME
  return named ? resolve(named) : join(homedir(), '.reeve')
}

function optionValue(option, given) {
  const at = given.findIndex((arg) => arg === option || arg.startsWith(`${option}=`))
  if (at === -1) return undefined
  return given[at] === option ? given[at + 1] : given[at].slice(option.length + 1)
}
