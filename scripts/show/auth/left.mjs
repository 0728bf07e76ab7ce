// What the parts of the show leave behind, for the search at the end.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Where everything lies that must hold no secret. */
export function leftIn(folder) {
  return join(folder, 'left')
}

/** Keeps what a program printed. */
export async function keep(folder, name, text) {
  await mkdir(leftIn(folder), { recursive: true })
  await writeFile(join(leftIn(folder), `${name}-output.txt`), text)
}
