import { join } from 'node:path'
import { root, succeed } from './commands.mjs'

export async function benchmark() {
  console.log(await succeed([process.execPath, join(root, 'bench', 'run.mjs'), '--quick'], { minutes: 8 }))
}
