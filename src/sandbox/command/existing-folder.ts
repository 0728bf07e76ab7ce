import { SandboxCommandError } from '../../errors.js'
import { locate } from './locate.js'

/** Where the folder of `sandboxCwd` really lies. Throws `SandboxCommandError`, with the words of the system, when it is none. */
export async function existingFolder(cwd: string): Promise<string> {
  const found = await locate(cwd)
  if (found.kind === 'found' && found.isFolder) return found.real
  const reason =
    found.kind === 'missing'
      ? 'No such file or directory (os error 2)'
      : found.kind === 'unknown'
        ? found.reason
        : 'Not a directory (os error 20)'
  throw new SandboxCommandError('sandbox_failed', `${cwd}: ${reason}`, { place: 'sandboxCwd' })
}
