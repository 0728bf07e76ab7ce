/** What a child may see of our own environment (reference: connections, 9.2). */
export const UNIX_ALLOWLIST = [
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
] as const

export const WINDOWS_ALLOWLIST = [
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
] as const

/** The names of the variables that every local child gets from its host. */
export function inheritedVariables(platform: NodeJS.Platform): readonly string[] {
  return platform === 'win32' ? WINDOWS_ALLOWLIST : UNIX_ALLOWLIST
}
