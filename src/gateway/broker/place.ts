import { createHash } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'

/** Where the broker of one home is met. All paths are absolute. */
export interface BrokerPlace {
  /** `run/` of the home: 0700. */
  readonly folder: string
  /** The secret that both sides prove to know: 0600. */
  readonly key: string
  /** Held by the kernel for the one process that is the broker. */
  readonly lock: string
  /** Says who is starting a broker, so that clients that come together start one and not many. */
  readonly starting: string
  /** Pid and start of the broker, for people and for ending one that answers no more. */
  readonly record: string
  readonly log: string
  readonly socket: BrokerSocket
}

/** `folder` has to be ours and 0700; a pipe has none. */
export type BrokerSocket =
  | { readonly kind: 'unix'; readonly path: string; readonly folder: string }
  | { readonly kind: 'pipe'; readonly path: string }

export interface PlaceOptions {
  readonly platform?: NodeJS.Platform
  /** What the socket's name is made from where it can't stand in the home. */
  readonly user?: string
}

/**
 * A socket's path has 104 bytes on macOS and 108 on Linux, its closing NUL and the name under which it is made
 * included; Node cuts longer ones without a word.
 */
const LONGEST_SOCKET = 96

/**
 * The broker's files of a home. The same for every spelling of it, and never taken from a variable: two clients of one
 * home always meet. A home with a long path has its socket in `/tmp/reeve-<uid>/`, Windows a named pipe.
 */
export function brokerPlace(home: string, options: PlaceOptions = {}): BrokerPlace {
  const folder = join(home, 'run')
  return Object.freeze({
    folder,
    key: join(folder, 'broker.key'),
    lock: join(folder, 'broker.lock'),
    starting: join(folder, 'broker.starting'),
    record: join(folder, 'broker.json'),
    log: join(folder, 'broker.log'),
    socket: Object.freeze(socketOf(home, folder, options)),
  })
}

function socketOf(home: string, folder: string, { platform = process.platform, user }: PlaceOptions): BrokerSocket {
  const name = () => digest(`${user ?? currentUser()} ${realPath(home)}`)
  if (platform === 'win32') return { kind: 'pipe', path: `\\\\.\\pipe\\reeve-${name()}` }
  const path = join(folder, 'broker.sock')
  if (Buffer.byteLength(path) <= LONGEST_SOCKET) return { kind: 'unix', path, folder }
  const short = join('/tmp', `reeve-${user ?? currentUser()}`)
  return { kind: 'unix', path: join(short, `${name()}.sock`), folder: short }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 24)
}

/** A number on POSIX; Windows has none and tells the name. */
function currentUser(): string {
  return process.getuid === undefined ? userInfo().username.toLowerCase() : String(process.getuid())
}

function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
