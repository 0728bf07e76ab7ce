// The list of the guide, which a test holds against the cells that the matrix refuses.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { root } from '../gateway/commands.mjs'

export async function unbridged() {
  const guide = await readFile(join(root, 'docs', 'eras.md'), 'utf8')
  const [, section] = /^## What can't be bridged\n(.*?)(?=^## |$(?![\s\S]))/ms.exec(guide) ?? []
  if (section === undefined) throw new Error('docs/eras.md has no such list')
  console.log(section.trim())
}
