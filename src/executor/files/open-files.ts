import type { FileHandle } from 'node:fs/promises'
import { EXEC_LIMITS } from '../../protocol/index.js'
import { invalidRequest, notFound } from '../wire/fault.js'

export interface OpenFile {
  readonly handle: FileHandle
  readonly mode: 'read' | 'replace'
}

/** The files that one connection has open; they close with it (reference: executor-protocol, 8). */
export class OpenFiles {
  readonly #files = new Map<string, OpenFile>()
  #state: 'open' | 'closed' = 'open'

  /** @throws RpcError -32600 when the id is no id, is in use, or too many are open */
  check(id: string): void {
    if (id === '' || Buffer.byteLength(id) > EXEC_LIMITS.fileHandleId)
      throw invalidRequest(`a handleId has 1 to ${EXEC_LIMITS.fileHandleId} bytes`)
    if (this.#files.has(id)) throw invalidRequest('a file of this handleId is open')
    if (this.#files.size >= EXEC_LIMITS.fileHandles)
      throw invalidRequest(`no more than ${EXEC_LIMITS.fileHandles} files may be open`)
  }

  async add(id: string, file: OpenFile): Promise<void> {
    // The connection may have ended while the file was being opened.
    if (this.#state === 'closed') await file.handle.close()
    else this.#files.set(id, file)
  }

  /** @throws RpcError -32004 */
  get(id: string): OpenFile {
    const file = this.#files.get(id)
    if (file === undefined) throw notFound('unknown file handle')
    return file
  }

  async close(id: string): Promise<void> {
    const file = this.#files.get(id)
    this.#files.delete(id)
    await file?.handle.close()
  }

  async closeAll(): Promise<void> {
    this.#state = 'closed'
    await Promise.allSettled([...this.#files.keys()].map((id) => this.close(id)))
  }
}
