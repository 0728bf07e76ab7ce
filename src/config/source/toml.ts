import { parse, TomlError } from 'smol-toml'
import { ConfigError } from '../../errors.js'
import { type Path, type Position, placeText, type RawTable, type SourceDocument } from './raw.js'
import { findInKeys, type KeyPositions, tomlKeyPositions } from './toml-positions.js'

/**
 * Parses TOML 1.0. Positions are worked out when the first one is asked for.
 *
 * @throws ConfigError `syntax`, with line and column.
 */
export function parseToml(file: string, text: string): SourceDocument {
  const root = parseTomlTable(file, text)
  let keys: KeyPositions | undefined
  const position = (path: Path): Position | undefined => {
    keys ??= tomlKeyPositions(text)
    return findInKeys(keys, path)
  }
  return { file, root, duplicates: [], position, written: (path) => path }
}

function parseTomlTable(file: string, text: string): RawTable {
  try {
    return parse(text, { integersAsBigInt: true })
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const message = error.message.split('\n', 1)[0]?.replace(/^Invalid TOML document: /, '') ?? 'syntax error'
    const position = { line: error.line, column: error.column }
    // Not its cause: that quotes the line, which may hold a secret.
    throw new ConfigError('syntax', message, { place: placeText(file, position, []), data: position })
  }
}
