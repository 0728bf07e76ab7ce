import { join } from 'node:path'

/**
 * Where installers put Codex: its own script, Homebrew, and packages of the system or of a global npm. `auto` looks here
 * and nowhere else, since what the PATH names may be anybody's.
 *
 * @param home of the user; absent: only places of the machine
 */
export function codexPlaces(home: string | undefined): readonly string[] {
  const own = home === undefined ? [] : ['.codex/packages/standalone/current/bin/codex', '.local/bin/codex']
  return [
    ...own.map((place) => join(home ?? '', place)),
    '/opt/homebrew/bin/codex',
    '/home/linuxbrew/.linuxbrew/bin/codex',
    '/usr/local/bin/codex',
    '/usr/bin/codex',
  ]
}
