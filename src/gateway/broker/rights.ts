import { lstatSync, type Stats } from 'node:fs'
import { BrokerError } from '../../errors.js'

/** What must stand at a path of the broker. */
export type PrivateKind = 'folder' | 'file' | 'socket'

/**
 * Whether something stands there; false when nothing does. Others may neither own it nor have any right on it: whoever
 * can change these files can answer in the broker's place.
 *
 * @throws BrokerError `broker_untrusted`, naming path, fault and what to do
 */
export function isPrivate(path: string, kind: PrivateKind): boolean {
  const found = lookAt(path)
  if (found === undefined) return false
  const fault = faultOf(found, kind)
  if (fault === undefined) return true
  throw new BrokerError('broker_untrusted', `${path} can't be trusted: ${fault}`, { place: path })
}

function faultOf(found: Stats, kind: PrivateKind): string | undefined {
  if (!isKind(found, kind)) return `it is no ${kind}`
  // Windows tells no owner; there the proof of the key alone decides.
  if (process.getuid === undefined) return undefined
  if (found.uid !== process.getuid()) return `it belongs to user ${found.uid}`
  const rights = found.mode & 0o777
  if ((rights & 0o077) === 0) return undefined
  const wanted = kind === 'folder' ? '700' : '600'
  return `others have rights on it (${rights.toString(8)}): chmod ${wanted} it`
}

/** A link is none of these: it would lead to files of somebody else. */
function isKind(found: Stats, kind: PrivateKind): boolean {
  if (kind === 'folder') return found.isDirectory()
  return kind === 'file' ? found.isFile() : found.isSocket()
}

function lookAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new BrokerError('broker_untrusted', `${path} can't be looked at: ${reason}`, { place: path, cause })
  }
}
