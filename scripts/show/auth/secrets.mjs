// Every file that the show left, as bytes, searched for every token, code, verifier and assertion that a stand-in issued or saw:
// as it is, percent-encoded, and in base64 and base64url at each of the three places that it can begin at.
import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'
import { table } from '../gateway/commands.mjs'
import { leftIn } from './left.mjs'

/** Where logins are kept: nothing else may hold a credential, and nobody else may read these. */
const KEPT = new Set(['auth.json', 'credentials.json'])

export async function secrets(folder) {
  const known = JSON.parse(await readFile(join(folder, 'secrets.json'), 'utf8'))
  if (known.length === 0) throw new Error('no secret is known')
  const forms = [...known.flatMap(formsOf), 'PRIVATE KEY'].map((form) => Buffer.from(form))
  const files = await filesIn(leftIn(folder))
  const problems = []
  const kinds = new Map()
  for (const file of files) {
    const content = await readFile(file)
    const name = relative(folder, file)
    const isKept = KEPT.has(basename(file))
    if (isKept && ((await stat(file)).mode & 0o077) !== 0) problems.push(`${name} can be read by others`)
    const found = forms.filter((form) => content.includes(form)).length
    if (found > 0 && !isKept) problems.push(`${name} holds ${found}`)
    const kind = isKept ? 'where logins are kept (not searched)' : kindOf(file)
    const { count, bytes } = kinds.get(kind) ?? { count: 0, bytes: 0 }
    kinds.set(kind, { count: count + 1, bytes: bytes + content.length })
  }
  console.log(`${known.length} secrets, ${forms.length} forms of them\n`)
  const rows = [...kinds].sort().map(([kind, { count, bytes }]) => [kind, count, bytes])
  console.log(table([['files', 'count', 'bytes'], ...rows]))
  for (const problem of problems) console.log(`✗ ${problem}`)
  if (files.length === 0) throw new Error('nothing was left to search')
  if (problems.length > 0) throw new Error(`${problems.length} files`)
  console.log('\nNone of them stands anywhere but where logins are kept.')
}

function kindOf(file) {
  if (/\.sqlite(-\w+)?$/.test(file)) return 'state (SQLite)'
  if (/errors\.txt$/.test(file)) return 'results and errors'
  if (/output.*\.txt$/.test(file)) return 'what programs printed'
  return 'other files of homes'
}

/** @returns {string[]} */
function formsOf(secret) {
  const encoded = encodeURIComponent(secret)
  const within = [0, 1, 2].flatMap((before) => {
    const text = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)]).toString('base64')
    // Without what the bytes around it have a part in.
    const inner = text.replace(/=+$/, '').slice(before === 0 ? 0 : before + 1, -2)
    return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')]
  })
  return [...new Set([secret, encoded, ...within.filter(({ length }) => length >= 12)])]
}

async function filesIn(folder) {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath ?? entry.path, entry.name))
}
