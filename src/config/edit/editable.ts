import { ConfigError } from '../../errors.js'

/** @throws ConfigError `not_editable` for JSON: such files are other programs' own. */
export function refuseForeignFile(file: string): void {
  if (!/\.jsonc?$/i.test(file)) return
  const message = 'is a JSON file of another program: edit it there, or import it with `reeve import`'
  throw new ConfigError('not_editable', message, { place: file })
}
