import { plugins } from '../../config/index.js'
import { RpcError } from '../../errors.js'
import { EXEC_CODES } from '../../protocol/index.js'
import type { EnvironmentFiles } from '../environment.js'

/** Where a path leads: into its folder, out of it, or nowhere (a link that leads nowhere included). */
export type Destination = 'inside' | 'outside' | 'nowhere'

/** Follows links in the environment itself, each path once. */
export class Containment {
  readonly #files: Pick<EnvironmentFiles, 'canonicalize'>
  readonly #signal: AbortSignal | undefined
  readonly #real = new Map<string, Promise<string | undefined>>()

  constructor(files: Pick<EnvironmentFiles, 'canonicalize'>, signal: AbortSignal | undefined) {
    this.#files = files
    this.#signal = signal
  }

  async destination(folder: string, path: string): Promise<Destination> {
    const [{ within }, realFolder, realPath] = await Promise.all([plugins(), this.#realOf(folder), this.#realOf(path)])
    if (realFolder === undefined || realPath === undefined) return 'nowhere'
    return within(realFolder, realPath) ? 'inside' : 'outside'
  }

  /** Undefined where nothing is. */
  #realOf(path: string): Promise<string | undefined> {
    const known = this.#real.get(path)
    if (known !== undefined) return known
    const asked = this.#files.canonicalize(path, this.#signal).catch((error: unknown) => {
      if (error instanceof RpcError && error.rpcCode === EXEC_CODES.notFound) return undefined
      throw error
    })
    this.#real.set(path, asked)
    return asked
  }
}
