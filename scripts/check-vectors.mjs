// The golden cases under test/vectors are a copy. Where the original lies beside the repository, each file must equal it.
// What stands only here (deviations, say) is ours.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const copy = join(root, 'test', 'vectors')
const original = join(root, '..', 'shared', 'vectors')

if (!existsSync(original)) {
  console.log('vectors: no original beside this repository; nothing to compare')
} else {
  const names = readdirSync(original).filter((name) => name.endsWith('.json'))
  const faults = names.flatMap((name) => fault(name) ?? [])
  for (const line of faults) console.error(line)
  if (faults.length > 0) process.exit(1)
  console.log(`vectors: ${names.length} files equal their originals`)
}

function fault(name) {
  if (!existsSync(join(copy, name))) return `test/vectors/${name} is missing`
  const same = readFileSync(join(copy, name)).equals(readFileSync(join(original, name)))
  return same ? undefined : `test/vectors/${name} differs from its original`
}
