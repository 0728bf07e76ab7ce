// Rooms import one way: a folder under src/ imports only from rooms above it in this list, and only their door.
// Source of the order: docs/architecture.md.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOMS = [
  'errors',
  'identity',
  'protocol',
  'config',
  'permissions',
  'auth',
  'environments',
  'transports',
  'catalog',
  'connections',
  'authority',
  'threads',
  'store',
  'telemetry',
  'host',
  'reeve',
  'gateway',
  'console',
  'executor',
  'sandbox',
  'cli',
]
// These two stand alone: what they publish must not drag the runtime in.
const ALONE = {
  sandbox: ['errors', 'identity', 'protocol', 'permissions'],
  executor: ['errors', 'identity', 'protocol', 'permissions'],
}

const src = join(dirname(fileURLToPath(import.meta.url)), '..', 'src')
const faults = []
let imports = 0
for (const file of walk(src)) {
  const from = roomOf(file)
  if (!ROOMS.includes(from)) fault(file, `'${from}' is no room: add it to the list and to docs/architecture.md`)
  for (const target of importsOf(file)) {
    imports += 1
    const to = roomOf(target)
    if (to === from) continue
    if (!ROOMS.includes(to)) fault(file, `imports ${target}, which is in no room`)
    else if (ROOMS.indexOf(to) > ROOMS.indexOf(from)) fault(file, `imports from '${to}', which stands below '${from}'`)
    else if (ALONE[from] && !ALONE[from].includes(to))
      fault(file, `'${from}' stands alone and may not import from '${to}'`)
    else if (to !== 'errors' && target !== doorOf(to)) fault(file, `imports ${target}: use the door '${doorOf(to)}'`)
  }
}
if (faults.length > 0) {
  for (const line of faults) console.error(line)
  process.exit(1)
}
console.log(`rooms: ${imports} imports, all one way`)

function fault(file, text) {
  faults.push(`src/${file}: ${text}`)
}
// The runtime is the library's entry, and stands beside its folder.
function doorOf(room) {
  return room === 'reeve' ? 'reeve.js' : `${room}/index.js`
}
function roomOf(path) {
  return path
    .split('/')[0]
    .replace(/\.(ts|js)$/, '')
    .replace(/\.test$/, '')
}
function* walk(folder) {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    if (statSync(path).isDirectory()) yield* walk(path)
    else if (name.endsWith('.ts') && !name.endsWith('.test.ts')) yield relative(src, path).split(sep).join('/')
  }
}
function importsOf(file) {
  const text = readFileSync(join(src, file), 'utf8')
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+)'/g)].map((match) =>
    normalize(join(dirname(file), match[1]))
      .split(sep)
      .join('/'),
  )
}
