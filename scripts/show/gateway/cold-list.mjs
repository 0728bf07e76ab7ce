import { join } from 'node:path'
import { root, succeed } from './commands.mjs'

export async function coldList() {
  console.log(await succeed([process.execPath, join(root, 'bench', 'cold-list.mjs')], { minutes: 5 }))
}
