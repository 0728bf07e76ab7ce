import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { EXEC_LIMITS, encodeBytes } from '../../protocol/index.js'
import { invalidRequest } from '../wire/fault.js'
import type { FileWork } from './file-methods.js'

/** Files in parts, by handle. */
export const blockMethods = {
  async open(params, { files }) {
    const handleId = params.text('handleId')
    const mode = params.optionalOneOf('mode', ['read', 'replace']) ?? 'read'
    files.check(handleId)
    // Without O_NONBLOCK a pipe without a writer would hold the connection for ever.
    const flags = mode === 'read' ? constants.O_RDONLY : constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC
    const handle = await open(params.path('path'), flags | (constants.O_NONBLOCK ?? 0), 0o666)
    if (!(await handle.stat()).isFile()) {
      await handle.close()
      throw invalidRequest('the path is not a file')
    }
    await files.add(handleId, { handle, mode })
    return { handleId }
  },

  async readBlock(params, { files }) {
    const { handle, mode } = files.get(params.text('handleId'))
    const [offset, len] = [params.count('offset'), params.count('len')]
    if (len < 1 || len > EXEC_LIMITS.fileBlock) throw invalidRequest(`a block has 1 to ${EXEC_LIMITS.fileBlock} bytes`)
    if (mode !== 'read') throw invalidRequest('the file was not opened for reading')
    const block = Buffer.allocUnsafe(len)
    let filled = 0
    while (filled < len) {
      const { bytesRead } = await handle.read(block, filled, len - filled, offset + filled)
      if (bytesRead === 0) break
      filled += bytesRead
    }
    return { chunk: encodeBytes(block.subarray(0, filled)), eof: filled < len }
  },

  async writeBlock(params, { files }) {
    const { handle, mode } = files.get(params.text('handleId'))
    const [offset, chunk] = [params.count('offset'), params.bytes('chunk')]
    if (chunk.length < 1 || chunk.length > EXEC_LIMITS.fileBlock)
      throw invalidRequest(`a block has 1 to ${EXEC_LIMITS.fileBlock} bytes`)
    if (mode !== 'replace') throw invalidRequest('the file was not opened for writing')
    let written = 0
    while (written < chunk.length)
      written += (await handle.write(chunk, written, chunk.length - written, offset + written)).bytesWritten
    return {}
  },

  async close(params, { files }) {
    await files.close(params.text('handleId'))
    return {}
  },
} satisfies Record<string, FileWork>
