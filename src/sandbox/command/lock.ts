import { connect, createServer, type Server, type Socket } from 'node:net'
import { SandboxCommandError } from '../../errors.js'

const PATIENCE_MS = 20_000

/**
 * Does something while no other process of this machine does anything under the same name. The lock is a socket without a
 * file (Linux): the kernel lets it go when its holder ends, however that happens.
 *
 * @throws SandboxCommandError `sandbox_busy` when it is held for longer than anything here takes
 */
export async function withLock<Result>(
  name: string,
  work: () => Promise<Result>,
  patienceMs = PATIENCE_MS,
): Promise<Result> {
  const path = `\0${name}`
  const late = AbortSignal.timeout(patienceMs)
  let lock = await take(path)
  while (lock === undefined) {
    await released(path, late)
    if (late.aborted) throw new SandboxCommandError('sandbox_busy', `another process holds the lock \`${name}\``)
    lock = await take(path)
  }
  try {
    return await work()
  } finally {
    await lock[Symbol.asyncDispose]()
  }
}

/** Undefined: another process has it. */
async function take(path: string): Promise<AsyncDisposable | undefined> {
  const waiting = new Set<Socket>()
  const server: Server = createServer((socket) => {
    waiting.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => waiting.delete(socket))
  })
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined)
      else reject(new SandboxCommandError('sandbox_failed', `no lock: ${error.message}`, { cause: error }))
    })
    server.listen(path, () => resolve({ [Symbol.asyncDispose]: () => letGo(server, waiting) }))
  })
}

/** Who waits learns of it by the end of its connection. */
function letGo(server: Server, waiting: ReadonlySet<Socket>): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    for (const socket of waiting) socket.destroy()
  })
}

/** Resolves when the holder has let go, or it is too late. */
function released(path: string, late: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(path)
    const end = (): void => {
      late.removeEventListener('abort', end)
      socket.destroy()
      resolve()
    }
    late.addEventListener('abort', end)
    socket.on('error', end)
    socket.on('close', end)
    socket.resume()
    if (late.aborted) end()
  })
}
