import { ReeveHost } from '../host/index.js'
import type { ReeveOptions } from './options.js'

/** What a runtime stands on for its whole life. */
export interface RuntimeParts {
  readonly options: ReeveOptions
  readonly cwd: string
  readonly host: ReeveHost
  readonly ownsHost: boolean
}

export function partsFrom(options: ReeveOptions): RuntimeParts {
  const cwd = options.cwd ?? process.cwd()
  return { options, cwd, host: options.host ?? new ReeveHost(options), ownsHost: options.host === undefined }
}
