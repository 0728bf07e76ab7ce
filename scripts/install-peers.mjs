// Installs pinned peers (clients, bridges, other Nodes) outside the project's own dependency tree:
//   node scripts/install-peers.mjs NAME…
// test/peers/NAME holds package.json and package-lock.json; the packages go to .cache/peers/NAME. A peer whose pins have
// not changed since its last whole install is left alone.
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readStamp, stampOf } from './content-stamp.mjs'
import { runStep, StepFailedError } from './run-step.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const pins = join(root, 'test', 'peers')
const cache = join(root, '.cache', 'peers')

/**
 * `install` with a lock file beside it keeps every pin, as `ci` does, and forgives a lock file without the optional packages
 * of other platforms (`ci` refuses it; npm leaves those out of the lock when the registry at hand lacks them).
 * Install scripts stay off: each peer works without them, through the binary in its platform package.
 */
const INSTALL = ['npm', 'install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']

/** Installs each named peer that is missing or whose pins changed. Throws `StepFailedError` at the first that fails. */
export async function installPeers(names, say = (line) => console.error(line)) {
  for (const name of names) await installPeer(name, say)
}

async function installPeer(name, say) {
  if (!peerNames().includes(name)) {
    throw new StepFailedError(
      `no peer '${name}' in test/peers`,
      `there are: ${peerNames().join(', ')}`,
      'ls test/peers',
    )
  }
  const target = join(cache, name)
  const stamp = stampOf(root, [`test/peers/${name}`])
  if (readStamp(join(target, '.stamp')) === stamp) return say(`peer ${name}: ready`)
  const started = Date.now()
  say(`peer ${name}: installing …`)
  await installInto(target, name, stamp)
  say(`peer ${name}: installed in ${((Date.now() - started) / 1000).toFixed(1)} s`)
}

/** Beside the target first, so that a half-finished install is never taken for a whole one. */
async function installInto(target, name, stamp) {
  const fresh = join(cache, `.${name}-${process.pid}`)
  const mend = `rm -rf .cache/peers/${name} && node scripts/install-peers.mjs ${name}`
  try {
    rmSync(fresh, { recursive: true, force: true })
    mkdirSync(fresh, { recursive: true })
    for (const file of readdirSync(join(pins, name))) cpSync(join(pins, name, file), join(fresh, file))
    await runStep(`installing the peer ${name}`, INSTALL, { cwd: fresh, mend })
    writeFileSync(join(fresh, '.stamp'), stamp)
    rmSync(target, { recursive: true, force: true })
    renameSync(fresh, target)
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}

function peerNames() {
  return existsSync(pins) ? readdirSync(pins) : []
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const names = process.argv.slice(2)
  if (names.length === 0) {
    console.error(`usage: node scripts/install-peers.mjs NAME…   (${peerNames().join(', ')})`)
    process.exit(2)
  }
  try {
    await installPeers(names)
  } catch (error) {
    if (!(error instanceof StepFailedError)) throw error
    console.error(error.message)
    process.exit(1)
  }
}
