// Rooms are entered by their door, `index.ts`, and a bundler that splits takes a door for something that needs all that it
// leads to: whoever wants one function would load the whole room. In the bundle each import goes straight to the file
// that a door has a name from.
import { readFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'

const IMPORT = /^(import|export) \{([^}]*)\} from '(\.{1,2}\/[^']*)'$/gm
const EXPORT_ALL = /^export \* from '(\.{1,2}\/[^']*)'$/gm

/** An esbuild plugin for the TypeScript files under `src`. */
export function pastTheDoor(src) {
  const doors = new Map()
  return {
    name: 'past-the-door',
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/ }, ({ path }) => {
        if (!path.startsWith(join(src, sep)) || isDoor(path)) return undefined
        return { contents: straight(readFileSync(path, 'utf8'), path, doors), loader: 'ts' }
      })
    },
  }
}

function straight(text, path, doors) {
  return text.replace(IMPORT, (whole, verb, names, from) => {
    const door = fileOf(from, path)
    if (!isDoor(door)) return whole
    const known = namesOf(door, doors)
    const lines = namesIn(names).map(({ name, alias }) => {
      const found = known.get(name)
      const shown = (file, original) => `${verb} { ${original} as ${alias} } from '${importOf(file, path)}'`
      return found === undefined ? shown(door, name) : shown(found.file, found.name)
    })
    // On one line, so that error texts keep their line numbers.
    return `${lines.join(';')}${'\n'.repeat(whole.split('\n').length - 1)}`
  })
}

/** The names that a door has from elsewhere, with the file and the name they have there. */
function namesOf(door, doors) {
  const known = doors.get(door)
  if (known !== undefined) return known
  const found = new Map()
  doors.set(door, found)
  const text = readFileSync(door, 'utf8')
  for (const [, verb, names, from] of text.matchAll(IMPORT)) {
    if (verb !== 'export') continue
    for (const { name, alias } of namesIn(names)) found.set(alias, original(fileOf(from, door), name, doors))
  }
  for (const [, from] of text.matchAll(EXPORT_ALL)) {
    const file = fileOf(from, door)
    const inner = isDoor(file) ? namesOf(file, doors) : ownNames(file)
    for (const [name, at] of inner) if (!found.has(name)) found.set(name, at)
  }
  return found
}

function original(file, name, doors) {
  return (isDoor(file) ? namesOf(file, doors).get(name) : undefined) ?? { file, name }
}

function ownNames(file) {
  const text = readFileSync(file, 'utf8')
  const names = [...text.matchAll(/^export (?:async )?(?:function|class|const) (\w+)/gm)].map(([, name]) => name)
  return new Map(names.map((name) => [name, { file, name }]))
}

/** `a`, `b as c`; types are none of a bundle's business. */
function namesIn(list) {
  return list
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '' && !entry.startsWith('type '))
    .map((entry) => {
      const [name, alias = name] = entry.split(' as ')
      return { name, alias }
    })
}

const isDoor = (path) => path.endsWith(`${sep}index.ts`)

const fileOf = (from, path) => join(dirname(path), from.replace(/\.js$/, '.ts'))

function importOf(file, path) {
  const route = relative(dirname(path), file).split(sep).join('/').replace(/\.ts$/, '.js')
  return route.startsWith('.') ? route : `./${route}`
}
