import type { JsonObject } from '../../protocol/index.js'
import type { Cli } from '../cli.js'
import { oneLine } from '../printable.js'

/** Shows `notifications/progress` of a call on stderr. */
export function showProgress(cli: Cli, what: string): (params: JsonObject) => void {
  return (params) => {
    const { progress, total, message } = params
    const done = typeof progress === 'number' ? String(Math.round(progress * 100) / 100) : ''
    const share = typeof total === 'number' && done !== '' ? `${done}/${total}` : done
    const said = typeof message === 'string' ? oneLine(message) : ''
    cli.err.progress([oneLine(what), share, said].filter((part) => part !== '').join('  '))
  }
}
