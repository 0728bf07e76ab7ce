import { parseJson } from '../source/json.js'
import type { RawTable } from '../source/raw.js'

/** A plugin's file of servers as data. @throws ConfigError `syntax` with line and column; `wrong_type` */
export function parsePluginDocument(file: string, text: string): RawTable {
  return parseJson(file, text).root
}
