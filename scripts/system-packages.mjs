// Programs that some tests use and that no npm package brings. Never fails a run: without them those tests are skipped.
import { spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Debian package → the program that it brings. */
const PROGRAMS = {
  chromium: 'chromium',
  bubblewrap: 'bwrap',
  'openssh-server': 'sshd',
  'openssh-client': 'ssh',
  'dbus-daemon': 'dbus-daemon',
  'gnome-keyring': 'gnome-keyring-daemon',
}
/** Where daemons are, which only root has on its path. */
const DAEMONS = ['/usr/sbin', '/usr/local/sbin']
const TIMEOUT_MS = 4 * 60_000

export function installSystemPackages(names, say = (line) => console.error(line)) {
  const missing = names.filter((name) => !onPath(PROGRAMS[name]))
  if (missing.length === 0) return
  const byHand = `apt-get update && apt-get install -y --no-install-recommends ${missing.join(' ')}`
  if (process.getuid?.() !== 0 || !onPath('apt-get')) {
    return say(`not installed: ${missing.join(', ')} (nothing here fails without). By hand: sudo sh -c '${byHand}'`)
  }
  const started = Date.now()
  say(`installing ${missing.join(' and ')} …`)
  const installed =
    apt('update') &&
    apt('install', '-y', '--no-install-recommends', ...missing) &&
    missing.every((name) => onPath(PROGRAMS[name]))
  const seconds = ((Date.now() - started) / 1000).toFixed(1)
  say(installed ? `installed ${missing.join(' and ')} in ${seconds} s` : `could not install them. By hand: ${byHand}`)
}

function apt(...args) {
  const { status, stderr } = spawnSync('apt-get', ['-q', '-o', 'DPkg::Lock::Timeout=60', ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
  })
  if (status !== 0) process.stderr.write(stderr ?? '')
  return status === 0
}

function onPath(program) {
  return [...(process.env.PATH ?? '').split(delimiter), ...DAEMONS].some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}
