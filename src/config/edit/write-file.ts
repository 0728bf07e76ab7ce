import { statSync } from 'node:fs'
import { ConfigError } from '../../errors.js'
import { errnoOf } from '../source/read-text.js'
import { replaceFile } from '../source/replace-file.js'

/**
 * Writes a configuration in one step. Keeps its mode, and its owner when we may.
 *
 * @param file its real path: a link would be replaced by the file.
 * @throws ConfigError `unwritable`.
 */
export function writeConfigFile(file: string, text: string): void {
  const before = statSync(file, { throwIfNoEntry: false })
  try {
    replaceFile(file, text, before)
  } catch (cause) {
    throw new ConfigError('unwritable', `cannot be written (${errnoOf(cause) ?? String(cause)})`, {
      place: file,
      cause,
    })
  }
}
