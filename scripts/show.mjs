// npm run show NAME: runs what a part of Reeve promises, and prints what came out.
import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = join(dirname(fileURLToPath(import.meta.url)), 'show')
const names = readdirSync(folder)
  .filter((file) => file.endsWith('.mjs'))
  .map((file) => file.slice(0, -'.mjs'.length))
const [name] = process.argv.slice(2)

if (!names.includes(name)) {
  console.error(`usage: npm run show NAME   (${names.join(', ')})`)
  process.exit(2)
}
const { show } = await import(`./show/${name}.mjs`)
process.exitCode = (await show()) ? 0 : 1
