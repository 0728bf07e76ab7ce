import { posix, win32 } from 'node:path'

/** The rules of the machine that a path is on, which need not be this one. */
export function pathRules(root: string): typeof posix {
  return /^[A-Za-z]:[\\/]|^\\\\/.test(root) ? win32 : posix
}

/** A relative path below a folder; undefined when it leaves it. Links are not followed here: the environment has them. */
export function inside(root: string, relative: string): string | undefined {
  const rules = pathRules(root)
  const base = rules.normalize(root)
  return within(base, rules.join(base, relative)) ? rules.resolve(base, rules.join(base, relative)) : undefined
}

/** Whether a path is the folder itself or below it; both absolute and of the same machine. */
export function within(root: string, path: string): boolean {
  const rules = pathRules(root)
  const relative = rules.relative(root, path)
  return !(relative === '..' || relative.startsWith(`..${rules.sep}`) || rules.isAbsolute(relative))
}

/**
 * Where an Agent Plugin keeps its data: below the home folder of the user there, by the plugin's id. Ids may hold anything,
 * so that what could lead elsewhere is written in hexadecimal.
 */
export function pluginDataFolder(home: string, pluginId: string): string {
  const bytes = [...Buffer.from(pluginId, 'utf8')]
  const name = bytes
    .map((byte) => {
      const character = String.fromCharCode(byte)
      return /[A-Za-z0-9@_.-]/.test(character) ? character : `%${byte.toString(16).padStart(2, '0')}`
    })
    .join('')
  return pathRules(home).join(
    home,
    '.reeve',
    'plugin-data',
    name.replace(/^\.+$|^$/, (dots) => `%${dots}`),
  )
}
