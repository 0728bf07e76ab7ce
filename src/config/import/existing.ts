import { refuseForeignFile } from '../edit/editable.js'
import { readSettings } from '../read-settings.js'
import type { FileSettings } from '../settings.js'
import { readConfigText } from '../source/read-text.js'
import { parseToml } from '../source/toml.js'

/**
 * What stands in the file that is imported into, as written: a variable that isn't set here doesn't free a name.
 *
 * @throws ConfigError when it cannot be read: it could not be edited either.
 */
export function existingServers(file: string): Pick<FileSettings, 'servers' | 'broken'> {
  refuseForeignFile(file)
  const text = readConfigText(file)
  if (text === undefined) return { servers: [], broken: new Set() }
  return readSettings(parseToml(file, text), { layer: 'file', strict: false, sharedFile: true })
}
