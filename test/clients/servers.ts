import { join } from 'node:path'
import { ROOT } from './peers.js'

const ECHO = join(ROOT, 'test', 'fixtures', 'stdio', 'echo.mjs')

/** Two servers with the same tools: only an exact identity reaches the right one. */
export const SERVERS = {
  mcpServers: {
    alpha: { command: process.execPath, args: [ECHO, '--name', 'alpha'] },
    beta: { command: process.execPath, args: [ECHO, '--name', 'beta'] },
  },
}

/** Names that every client must be offered, whatever it puts before them. */
export const OFFERED = ['alpha__echo', 'beta__echo', 'alpha__process', 'beta__process']
