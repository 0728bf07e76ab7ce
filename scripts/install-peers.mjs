// Installs pinned peers (clients, bridges, other Nodes) outside the project's own dependency tree:
//   node scripts/install-peers.mjs NAME…
// test/peers/NAME holds package.json and package-lock.json; the packages go to .cache/peers/NAME. A peer whose pins have
// not changed since its last whole install is left alone.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const pins = join(root, 'test', 'peers')
const cache = join(root, '.cache', 'peers')

const INSTALL_TIMEOUT_MS = 8 * 60_000
/**
 * `install` with a lock file beside it keeps every pin, as `ci` does, and forgives a lock file without the optional packages
 * of other platforms (`ci` refuses it; npm leaves those out of the lock when the registry at hand lacks them).
 * Install scripts stay off: each peer works without them, through the binary in its platform package.
 */
const INSTALL = ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']

/** Installs each named peer that is missing or whose pins changed. Throws `PeerInstallError` at the first that fails. */
export async function installPeers(names, say = (line) => console.error(line)) {
  for (const name of names) await installPeer(name, say)
}

export class PeerInstallError extends Error {}

async function installPeer(name, say) {
  const source = join(pins, name)
  if (!existsSync(join(source, 'package-lock.json'))) {
    throw new PeerInstallError(`no peer '${name}' in test/peers; there are: ${peerNames().join(', ')}`)
  }
  const target = join(cache, name)
  const stamp = stampOf(source)
  if (readStamp(target) === stamp) return say(`peer ${name}: ready`)
  const started = Date.now()
  say(`peer ${name}: installing`)
  const fresh = join(cache, `.${name}-${process.pid}`)
  try {
    rmSync(fresh, { recursive: true, force: true })
    mkdirSync(fresh, { recursive: true })
    for (const file of ['package.json', 'package-lock.json']) cpSync(join(source, file), join(fresh, file))
    await npmInstall(fresh, name)
    writeFileSync(join(fresh, '.stamp'), stamp)
    rmSync(target, { recursive: true, force: true })
    renameSync(fresh, target)
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
  say(`peer ${name}: installed in ${((Date.now() - started) / 1000).toFixed(1)} s`)
}

function npmInstall(folder, name) {
  const windows = process.platform === 'win32'
  return new Promise((resolve, reject) => {
    const child = spawn(windows ? 'npm.cmd' : 'npm', INSTALL, {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: windows,
      timeout: INSTALL_TIMEOUT_MS,
      killSignal: 'SIGKILL',
    })
    let tail = ''
    const keep = (chunk) => {
      tail = (tail + chunk).slice(-4000)
    }
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    child.once('error', (error) => reject(new PeerInstallError(failure(name, error.message))))
    child.once('close', (code, signal) => {
      if (code === 0) resolve()
      else reject(new PeerInstallError(failure(name, `npm install ended with ${signal ?? code}\n${tail.trim()}`)))
    })
  })
}

function failure(name, reason) {
  return `peer ${name}: ${reason}\nTry it by hand: (cd test/peers/${name} && npm ${INSTALL.join(' ')})`
}

function stampOf(source) {
  const hash = createHash('sha256')
  for (const file of ['package.json', 'package-lock.json']) hash.update(readFileSync(join(source, file)))
  return hash.update(`${process.platform} ${process.arch} ${INSTALL.join(' ')}`).digest('hex')
}

function readStamp(target) {
  try {
    return readFileSync(join(target, '.stamp'), 'utf8')
  } catch {
    return undefined
  }
}

function peerNames() {
  return readdirSync(pins, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
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
    if (!(error instanceof PeerInstallError)) throw error
    console.error(error.message)
    process.exit(1)
  }
}
