import { CONNECTING_VARIABLES } from '../../config/index.js'

/** What a child of the host sees of the host's own environment (reference: connections, 9.2). */
const UNIX = [
  'HOME',
  'LOGNAME',
  'PATH',
  'SHELL',
  'USER',
  '__CF_USER_TEXT_ENCODING',
  'LANG',
  'LC_ALL',
  'TERM',
  'TMPDIR',
  'TZ',
]
const WINDOWS = [
  'PATH',
  'PATHEXT',
  'COMSPEC',
  'SYSTEMROOT',
  'SYSTEMDRIVE',
  'USERNAME',
  'USERDOMAIN',
  'USERPROFILE',
  'HOMEDRIVE',
  'HOMEPATH',
  'TEMP',
  'TMP',
  'PROGRAMFILES',
  'PROGRAMFILES(X86)',
  'PROGRAMW6432',
  'PROGRAMDATA',
  'APPDATA',
  'LOCALAPPDATA',
]

/**
 * The whole environment of a command that leads to an executor: the usual variables of the host, those by which
 * connecting programs find their agent or daemon, and over them the entry's own. Windows names are compared without case.
 */
export function connectingEnvironment(
  platform: NodeJS.Platform,
  host: Readonly<Record<string, string | undefined>>,
  own: Readonly<Record<string, string>>,
): Record<string, string> {
  const fold = (name: string): string => (platform === 'win32' ? name.toUpperCase() : name)
  const passed = new Set([...(platform === 'win32' ? WINDOWS : UNIX), ...CONNECTING_VARIABLES])
  const chosen = new Map<string, readonly [string, string]>()
  for (const [name, value] of Object.entries(host))
    if (value !== undefined && passed.has(fold(name))) chosen.set(fold(name), [name, value])
  for (const [name, value] of Object.entries(own)) chosen.set(fold(name), [name, value])
  const record: Record<string, string> = Object.create(null)
  for (const [name, value] of chosen.values()) record[name] = value
  return record
}
