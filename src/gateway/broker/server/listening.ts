import { chmodSync, lstatSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { BrokerError } from '../../../errors.js'
import type { BrokerSocket } from '../place.js'
import { isPrivate } from '../rights.js'
import { BROKER_LIMITS } from '../wire/limits.js'

/** A socket that clients can reach. */
export interface Listening {
  /** Takes the socket away: nobody else gets in, those who are in stay. Idempotent. */
  stop(): void
}

/**
 * Listens at the broker's place. The socket is made beside it, closed to others, and then moved there, over one that a
 * dead broker left: it is never seen half made. Only the sole broker of a home may do this.
 *
 * @throws BrokerError `broker_untrusted` when the folder is somebody else's
 */
export async function listenAt(place: BrokerSocket, onSocket: (socket: Socket) => void): Promise<Listening> {
  const server = createServer({ allowHalfOpen: true }, onSocket)
  server.maxConnections = BROKER_LIMITS.connections
  if (place.kind === 'pipe') {
    await listening(server, place.path)
    return { stop: () => void server.close() }
  }
  ownFolder(place.folder)
  const made = `${place.path}.new`
  rmSync(made, { force: true })
  await listening(server, made)
  chmodSync(made, 0o600)
  renameSync(made, place.path)
  const { ino } = lstatSync(place.path)
  return {
    stop: () => {
      // A newer broker may stand there by now.
      if (lstatSync(place.path, { throwIfNoEntry: false })?.ino === ino) rmSync(place.path, { force: true })
      server.close()
    },
  }
}

function ownFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (!isPrivate(folder, 'folder')) throw new BrokerError('broker_untrusted', `${folder} can't be made`)
}

function listening(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, () => {
      server.off('error', reject)
      resolve()
    })
  })
}
