// The verbs of the command line on the demo servers, each with the head of its output.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeEmbeddedDefault } from '../../embedded-default.mjs'
import { cleanEnvironment, head, REEVE, root, run } from './commands.mjs'

const VERBS = [
  ['list'],
  ['status'],
  ['tools'],
  ['tools', '--json'],
  ['call', 'everything', 'echo', 'message=hello'],
  ['call', 'files', 'list_directory', 'path=FILES'],
  ['call', 'files', '--env', 'workshop', 'list_directory', 'path=WORKSHOP'],
  ['resources', 'everything'],
  ['read', 'everything', 'FIRST_RESOURCE'],
  ['prompts'],
  ['env', 'list'],
  ['env', 'check'],
  ['prompt', 'everything', 'simple-prompt'],
  ['doctor'],
]
const LINES = 12

export async function verbs() {
  const home = await mkdtemp(join(tmpdir(), 'reeve-show-'))
  const config = writeEmbeddedDefault({ home, demo: join(root, 'demo'), reeve: REEVE.at(-1) })
  const reeve = (verb) => run([...REEVE, '--home', home, '--config', config, ...verb], { env: cleanEnvironment(home) })
  try {
    const places = {
      FILES: join(home, 'demo', 'files'),
      WORKSHOP: join(home, 'demo', 'workshop', 'files'),
      FIRST_RESOURCE: await firstResource(reeve),
    }
    const failed = []
    for (const verb of VERBS) {
      const filled = verb.map((part) =>
        Object.entries(places).reduce((text, [name, value]) => text.replace(name, value), part),
      )
      const { code, stdout, stderr, ms } = await reeve(filled)
      console.log(
        `$ reeve ${filled.join(' ')}   (exit ${code}, ${ms.toFixed(0)} ms)\n${head(stdout || stderr, LINES)}\n`,
      )
      if (code !== 0) failed.push(verb.join(' '))
    }
    if (failed.length > 0) throw new Error(`exit code other than 0: ${failed.join('; ')}`)
  } finally {
    await rm(home, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function firstResource(reeve) {
  const { stdout } = await reeve(['resources', 'everything', '--json'])
  return /"uri":\s*"([^"]+)"/.exec(stdout)?.[1] ?? 'no resource'
}
